using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Server.Tls;

/// <summary>
/// Keys and rules of one side of connections, made of settings and checked: what is there can be used. It does not change; other keys are
/// another context. Sessions keep what they were made of.
/// </summary>
internal sealed unsafe class TlsContext : IDisposable
{
    internal const string Unusable = "TLS cannot be used";
    private const long DaySeconds = 86_400;

    private TlsContext(nint handle) => Handle = handle;

    /// <summary>What sessions are made of.</summary>
    internal nint Handle { get; private set; }

    /// <summary>When its certificate expires, Unix seconds; 0 without one.</summary>
    internal long ExpiresUnixSeconds { get; private set; }

    /// <summary>For connections that come in.</summary>
    /// <exception cref="GarnetException">Something cannot be used; it says which setting, why, and what to do.</exception>
    internal static TlsContext OfServer(TlsSettings settings, long nowUnixSeconds) => Make(context =>
    {
        context.Show("tls-cert-file", settings.CertificateFile, "tls-key-file", settings.KeyFile, settings.KeyPassword, nowUnixSeconds);
        context.Believe(settings);
        int check = settings.ClientCheck switch
        {
            TlsClientCheck.No => LibSsl.VerifyNone,
            TlsClientCheck.Optional => LibSsl.VerifyPeer,
            _ => LibSsl.VerifyPeer | LibSsl.VerifyMustHave,
        };
        LibSsl.SSL_CTX_set_verify(context.Handle, check, 0);
        context.Speak(settings);
        context.KeepSessions(settings);
    });

    /// <summary>For connections to other servers, who must show a certificate that is vouched for, if not <paramref name="believesAll"/>.</summary>
    /// <exception cref="GarnetException">As above.</exception>
    internal static TlsContext OfClient(TlsSettings settings, long nowUnixSeconds, bool believesAll = false) => Make(context =>
    {
        if (settings.ClientCertificateFile.Length + settings.ClientKeyFile.Length > 0)
        {
            context.Show(
                "tls-client-cert-file", settings.ClientCertificateFile, "tls-client-key-file", settings.ClientKeyFile,
                settings.ClientKeyPassword, nowUnixSeconds);
        }
        else if (settings.CertificateFile.Length > 0)
        {
            context.Show("tls-cert-file", settings.CertificateFile, "tls-key-file", settings.KeyFile, settings.KeyPassword, nowUnixSeconds);
        }

        if (!believesAll)
            context.Believe(settings);
        LibSsl.SSL_CTX_set_verify(context.Handle, believesAll ? LibSsl.VerifyNone : LibSsl.VerifyPeer, 0);
        context.Speak(settings);
    });

    /// <inheritdoc/>
    public void Dispose()
    {
        LibSsl.SSL_CTX_free(Handle); // of nothing: nothing
        Handle = 0;
    }

    private static TlsContext Make(Action<TlsContext> fill)
    {
        LibSsl.ERR_clear_error();
        nint handle = LibSsl.SSL_CTX_new(LibSsl.TLS_method());
        if (handle == 0)
            throw Refusal(Unusable, TlsFault.Take(), "Check the installation of OpenSSL 3");
        var context = new TlsContext(handle);
        try
        {
            context.Prepare();
            fill(context);
            return context;
        }
        catch (GarnetException)
        {
            context.Dispose();
            throw;
        }
    }

    private void Prepare()
    {
        int mode = LibSsl.ModePartialWrite | LibSsl.ModeMovingBuffer | LibSsl.ModeReleaseBuffers; // who is idle holds no buffers
        _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlMode, mode, null);
        // A read ends with the bytes that are there, whether data was among them or not: a peer that sends nothing but new keys keeps nobody
        // (tls.T5).
        _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlClearMode, LibSsl.ModeAutoRetry, null);
        // Else a record costs two calls of the kernel: for its head, and for its body.
        _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlReadAhead, 1, null);
        _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlDhAuto, 1, null);
        // An end without a word is an end: requests and replies say themselves where they end, so that nothing can be cut off unseen.
        ulong options = LibSsl.OptionNoRenegotiation | LibSsl.OptionNoCompression | LibSsl.OptionIgnoreUnexpectedEnd;
        _ = LibSsl.SSL_CTX_set_options(Handle, options);
    }

    // The certificate and its key, if they belong together and today.
    private void Show(string certificateName, string certificate, string keyName, string key, string password, long nowUnixSeconds)
    {
        if (certificate.Length == 0)
            throw Refusal(Unusable, $"{certificateName} is not set", $"Set {certificateName} and {keyName}");
        if (key.Length == 0)
            throw Refusal(Unusable, $"{keyName} is not set", $"Set {keyName} to the private key of {certificate}");
        fixed (byte* path = NativeText.Of(certificate))
        {
            if (LibSsl.SSL_CTX_use_certificate_chain_file(Handle, path) != 1)
                throw Unread(certificateName, certificate);
        }

        Judge(certificateName, certificate, nowUnixSeconds);
        Unlock(keyName, key, password);
        if (LibSsl.SSL_CTX_check_private_key(Handle) != 1)
            throw KeyOfAnother(keyName, key, TlsFault.Take());
    }

    private void Unlock(string name, string key, string password)
    {
        // Without a password in hand OpenSSL would ask for one at the terminal.
        fixed (byte* path = NativeText.Of(key), secret = NativeText.Of(password))
        {
            LibSsl.SSL_CTX_set_default_passwd_cb_userdata(Handle, secret);
            int taken = LibSsl.SSL_CTX_use_PrivateKey_file(Handle, path, LibSsl.FiletypePem);
            LibSsl.SSL_CTX_set_default_passwd_cb_userdata(Handle, null);
            if (taken == 1)
                return;
        }

        string why = TlsFault.Take();
        if (why.Contains("mismatch", StringComparison.Ordinal))
            throw KeyOfAnother(name, key, why);
        if (!TlsFiles.IsEncrypted(name, key))
            throw Refusal($"{name} {key}", $"there is no key to be read in it: {why}", "Name a private key in PEM");
        if (password.Length == 0)
            throw Refusal($"{name} {key}", "the key is encrypted, and there is no password for it", $"Set {name}-pass");
        throw Refusal($"{name} {key}", $"{name}-pass is not the password that the key is encrypted with ({why})", $"Correct {name}-pass");
    }

    private void Judge(string name, string path, long nowUnixSeconds)
    {
        nint certificate = LibSsl.SSL_CTX_get0_certificate(Handle);
        if (Seconds(nowUnixSeconds, LibSsl.X509_get0_notBefore(certificate)) is > 0 and var early)
        {
            string why = $"the certificate is not valid yet, but in {early} seconds";
            throw Refusal($"{name} {path}", why, "Check the clock of this machine, or name another certificate");
        }

        long left = Seconds(nowUnixSeconds, LibSsl.X509_get0_notAfter(certificate));
        if (left < 0)
            throw Refusal($"{name} {path}", $"the certificate has expired {-left / DaySeconds} days ago", "Have a new one made");
        ExpiresUnixSeconds = nowUnixSeconds + left;
    }

    private static long Seconds(long fromUnixSeconds, nint to)
    {
        nint from = LibSsl.ASN1_TIME_set(0, (nint)fromUnixSeconds);
        int days = 0, seconds = 0;
        _ = LibSsl.ASN1_TIME_diff(&days, &seconds, from, to);
        LibSsl.ASN1_STRING_free(from);
        return (days * DaySeconds) + seconds;
    }

    private void Believe(TlsSettings settings)
    {
        if (settings.AuthorityFile.Length + settings.AuthorityDirectory.Length == 0)
        {
            if (settings.OfReplication || settings.OfMigration)
            {
                const string Why = "tls-replication and tls-cluster want certificates of other servers that are believed";
                throw Refusal(Unusable, Why, "Set tls-ca-cert-file");
            }

            if (settings.ClientCheck != TlsClientCheck.No)
                throw Refusal(Unusable, "it is not said whose certificates clients have", "Set tls-ca-cert-file, or tls-auth-clients no");
            return;
        }

        LoadAuthorities(settings.AuthorityFile);
        if (settings.AuthorityDirectory.Length == 0)
            return;
        fixed (byte* directory = NativeText.Of(settings.AuthorityDirectory))
        {
            if (!Directory.Exists(settings.AuthorityDirectory) || LibSsl.SSL_CTX_load_verify_dir(Handle, directory) != 1)
            {
                const string Next = "Name one, made ready by: openssl rehash DIRECTORY";
                throw Refusal($"tls-ca-cert-dir {settings.AuthorityDirectory}", "there is no such directory", Next);
            }
        }
    }

    private void LoadAuthorities(string path)
    {
        if (path.Length == 0)
            return;
        fixed (byte* file = NativeText.Of(path))
        {
            nint names = LibSsl.SSL_CTX_load_verify_file(Handle, file) == 1 ? LibSsl.SSL_load_client_CA_file(file) : 0;
            if (names == 0)
                throw Unread("tls-ca-cert-file", path);
            LibSsl.SSL_CTX_set_client_CA_list(Handle, names); // clients with several certificates choose by it
        }
    }

    private void Speak(TlsSettings settings)
    {
        ReadOnlySpan<ulong> withouts = [LibSsl.OptionNoTls10, LibSsl.OptionNoTls11, LibSsl.OptionNoTls12, LibSsl.OptionNoTls13];
        ulong options = settings.PrefersOwnCiphers ? LibSsl.OptionServersCiphers : 0;
        for (int minor = 0; minor < withouts.Length; minor++)
            options |= settings.Versions.Allows(minor) ? 0 : withouts[minor];
        // OpenSSL's own configuration may want more than the setting.
        _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlVersionMin, LibSsl.Tls10, null);
        _ = LibSsl.SSL_CTX_set_options(Handle, options);
        Take("tls-ciphers", settings.Ciphers, &LibSsl.SSL_CTX_set_cipher_list);
        Take("tls-ciphersuites", settings.CipherSuites, &LibSsl.SSL_CTX_set_ciphersuites);
    }

    private void Take(string name, string ciphers, delegate*<nint, byte*, int> set)
    {
        if (ciphers.Length == 0)
            return;
        fixed (byte* text = NativeText.Of(ciphers))
        {
            if (set(Handle, text) != 1)
            {
                string why = $"OpenSSL does not know these: {TlsFault.Take()}";
                throw Refusal($"{name} {ciphers}", why, "List what there is with: openssl ciphers -v");
            }
        }
    }

    private void KeepSessions(TlsSettings settings)
    {
        fixed (byte* name = "garnet"u8)
            _ = LibSsl.SSL_CTX_set_session_id_context(Handle, name, 6);
        if (!settings.CachesSessions)
        {
            _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlCacheMode, LibSsl.CacheOff, null);
            _ = LibSsl.SSL_CTX_set_options(Handle, LibSsl.OptionNoTicket);
            return;
        }

        _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlCacheMode, LibSsl.CacheServer, null);
        _ = LibSsl.SSL_CTX_ctrl(Handle, LibSsl.ControlCacheSize, settings.CachedSessionsMax, null);
        _ = LibSsl.SSL_CTX_set_timeout(Handle, settings.CachedSessionSeconds);
    }

    private static GarnetException Unread(string name, string path) =>
        Refusal($"{name} {path}", $"there is no certificate in it: {TlsFault.Take()}", "Name a file in PEM");

    private static GarnetException KeyOfAnother(string name, string path, string why) => Refusal(
        $"{name} {path}", $"the key is not that of the certificate ({why})",
        "Name the two that belong together; CONFIG SET takes both at once");

    private static GarnetException Refusal(string what, string why, string next) => new(ExitKind.Configuration, what, why, next);
}
