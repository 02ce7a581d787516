using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Common.Time;
using Garnet.Server.Base;

namespace Garnet.Server.Tls;

/// <summary>
/// The keys in force, for both sides of connections. New ones come by CONFIG SET, or in the files that are named: they are looked at before a
/// connection is made, once a second at most, so that a server to which nobody connects does nothing. Connections keep the keys that
/// they were made with.
///
/// tls.K1  Keys count once all of them were checked; until then, and if they cannot be used, those before them do.
/// tls.K2  Of files that cannot be used a line of the log says so once, until they change again, and not before a second look has found the
///     same.
/// </summary>
internal sealed class TlsKeys : IDisposable
{
    private const long LookUs = 1_000_000;

    /// <summary>
    /// Settings whose change makes other contexts: all that may change but the way in which clients are mapped to users, and how long a
    /// handshake may take, which are read each time.
    /// </summary>
    internal static readonly string[] Names =
    [
        "tls-cert-file", "tls-key-file", "tls-key-file-pass", "tls-client-cert-file", "tls-client-key-file", "tls-client-key-file-pass",
        "tls-ca-cert-file", "tls-ca-cert-dir", "tls-auth-clients", "tls-protocols", "tls-ciphers", "tls-ciphersuites",
        "tls-prefer-server-ciphers", "tls-session-caching", "tls-session-cache-size", "tls-session-cache-timeout",
        "tls-replication", "tls-cluster",
    ];

    private readonly Lock _gate = new();
    private readonly TlsSettings _settings;
    private readonly IClock _clock;
    private readonly ServerLog _log;
    private TlsContext? _server, _client;
    private string _digest = "", _unsure = "";
    private List<string> _doubts = [];
    private long _lookedUs;

    /// <exception cref="GarnetException">TLS is asked for and cannot be had.</exception>
    internal TlsKeys(ServerSettings settings, SettingTable table, IClock clock, ServerLog log)
    {
        (_settings, _clock, _log) = (settings.Tls, clock, log);
        if (_settings.Serves && (settings.Network.Transport == TransportKind.Sockets || !OperatingSystem.IsLinux()))
        {
            throw new GarnetException(
                ExitKind.Configuration, $"tls-port {_settings.Port}", "connections of clients are encrypted over epoll only, on Linux",
                "Use --transport auto on Linux, or put a TLS proxy in front");
        }

        if (_settings.Port > 0 && _settings.Port == settings.Network.Port)
        {
            throw new GarnetException(
                ExitKind.Configuration, $"tls-port {_settings.Port}", "port has the same number, and only one of them can have it",
                "Set port 0 for encrypted connections alone, or another number");
        }

        if (_settings.IsUsed)
            Renew();
        TellDoubts();
        table.OnSet(Names, Changed);
        table.OnSet("tls-auth-clients-user", TellDoubts);
    }

    /// <summary>When the certificate that clients see expires, Unix seconds; 0 if there is none.</summary>
    internal long ExpiresUnixSeconds
    {
        get
        {
            lock (_gate)
                return _server?.ExpiresUnixSeconds ?? 0;
        }
    }

    /// <summary>These keys if links between servers are encrypted (<c>tls-replication</c>), else nothing.</summary>
    internal TlsKeys? OfReplication => _settings.OfReplication ? this : null;

    /// <summary>These keys if MIGRATE encrypts (<c>tls-cluster</c>), else nothing.</summary>
    internal TlsKeys? OfMigration => _settings.OfMigration ? this : null;

    /// <summary>A session for a connection that came in.</summary>
    /// <exception cref="IOException">There is no memory for it.</exception>
    internal TlsSession Accept(int descriptor)
    {
        lock (_gate)
        {
            LookAgain();
            return new TlsSession(_server!.Handle, descriptor, isServer: true);
        }
    }

    /// <summary>A session for a connection to another server.</summary>
    /// <exception cref="IOException">There are no keys for it.</exception>
    internal TlsSession Connect(int descriptor, string host) => Connect(host, keys => new TlsSession(keys, descriptor, isServer: false));

    /// <summary>The same in memory, without a socket.</summary>
    /// <exception cref="IOException">There are no keys for it.</exception>
    internal TlsSession ConnectInMemory(string host) => Connect(host, TlsSession.InMemory);

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            _server?.Dispose();
            _client?.Dispose();
        }
    }

    private TlsSession Connect(string host, Func<nint, TlsSession> made)
    {
        lock (_gate)
        {
            LookAgain();
            if (_client is not { } keys)
                throw new IOException("TLS is not set up (tls-ca-cert-file)");
            TlsSession session = made(keys.Handle);
            session.Ask(host);
            return session;
        }
    }

    private string? Changed()
    {
        if (!_settings.IsUsed)
            return null; // judged when they are used
        try
        {
            Renew();
            TellDoubts();
            return null;
        }
        catch (GarnetException e)
        {
            return $"{e.What}: {e.Why}. {e.Next}";
        }
    }

    private void TellDoubts()
    {
        List<string> doubts = TlsDoubts.Of(_settings);
        foreach (string doubt in doubts)
        {
            if (!_doubts.Contains(doubt))
                _log.TlsDoubted(doubt);
        }
        _doubts = doubts;
    }

    private void LookAgain()
    {
        if (_clock.MonotonicUs - _lookedUs < LookUs)
            return;
        _lookedUs = _clock.MonotonicUs;
        string digest = "";
        try
        {
            digest = TlsFiles.Digest(_settings);
            if (digest == _digest)
                return;
            Renew();
            _log.TlsRenewed(ExpiresUnixSeconds);
        }
        catch (GarnetException e)
        {
            Keep(digest.Length > 0 ? digest : $"{e.What} {e.Why}", e);
        }
    }

    // tls.K2: whoever puts new files in place does it one after the other, and may be between the two.
    private void Keep(string state, GarnetException why)
    {
        if (state == _digest)
            return;
        if (state != _unsure)
        {
            _unsure = state;
            return;
        }

        _digest = state;
        _log.TlsKept($"{why.What}: {why.Why}", why.Next);
    }

    private void Renew()
    {
        if (!NativeLibraryIsThere())
        {
            throw new GarnetException(ExitKind.Configuration, TlsContext.Unusable, "OpenSSL 3 is not there (libssl.so.3)",
                "Install it: apt-get install libssl3, or the like");
        }

        Libc.OutlivePeers();
        string digest = TlsFiles.Digest(_settings);
        long now = _clock.UnixMs / 1000;
        TlsContext? server = null, client = null;
        try
        {
            server = _settings.Serves ? TlsContext.OfServer(_settings, now) : null;
            client = _settings.OfReplication || _settings.OfMigration ? TlsContext.OfClient(_settings, now) : null;
        }
        catch (GarnetException)
        {
            server?.Dispose();
            throw;
        }

        lock (_gate) // tls.K1
        {
            _server?.Dispose();
            _client?.Dispose();
            (_server, _client, _digest, _lookedUs) = (server, client, digest, _clock.MonotonicUs);
        }
    }

    private static bool NativeLibraryIsThere() => OperatingSystem.IsLinux() && OpenSsl.IsThree();
}
