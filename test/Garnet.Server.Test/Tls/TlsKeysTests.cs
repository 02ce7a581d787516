using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Garnet.Common;
using Garnet.Server.Test.Net;
using Garnet.Server.Tls;
using Garnet.Wire;
using Garnet.Wire.Tls;
using NUnit.Framework;

namespace Garnet.Server.Test.Tls;

/// <summary>Keys are checked before they count; those that count go on counting until better ones are there.</summary>
internal sealed class TlsKeysTests
{
    private const int PastTheLook = 1100;

    private TestCertificates _files = null!;

    [SetUp]
    public void Make() => _files = new TestCertificates();

    [TearDown]
    public void Delete() => _files.Dispose();

    private static IEnumerable<TestCaseData> Wrong()
    {
        yield return Case("tls-cert-file", "nowhere.crt", "cannot be read");
        yield return Case("tls-cert-file", "text", "there is no certificate in it");
        yield return Case("tls-cert-file", "old.crt", "has expired 3 days ago");
        yield return Case("tls-cert-file", "early.crt", "is not valid yet");
        yield return Case("tls-key-file", "nowhere.key", "cannot be read");
        yield return Case("tls-key-file", "text", "there is no key to be read in it");
        yield return Case("tls-key-file", "client.key", "the key is not that of the certificate");
        yield return Case("tls-key-file", "locked.key", "there is no password for it. Set tls-key-file-pass");
        yield return Case("tls-ca-cert-file", "text", "there is no certificate in it");
        yield return Case("tls-ca-cert-dir", "nowhere", "there is no such directory");
        yield return Case("tls-ciphers", "ROT13", "OpenSSL does not know these");
        yield return Case("tls-ciphersuites", "TLS_ROT13", "OpenSSL does not know these");
        static TestCaseData Case(string name, string value, string why) => new TestCaseData(name, value, why).SetArgDisplayNames(name, value);
    }

    [TestCaseSource(nameof(Wrong))]
    public void What_cannot_be_used_is_refused_at_the_start_and_by_CONFIG_SET_with_the_reason(string name, string value, string why)
    {
        _files.Make("old", "CN=localhost", fromDays: -10, toDays: -3);
        _files.Make("early", "CN=localhost", fromDays: 2, toDays: 30);
        _files.Make("locked", "CN=localhost", password: "right");
        _files.Write("text", "not in PEM");
        bool isFile = name.EndsWith("-file", StringComparison.Ordinal) || name.EndsWith("-dir", StringComparison.Ordinal);
        if (isFile) value = _files.Path(value);
        GarnetException refused = Assert.Throws<GarnetException>(() => new TestServer(Route.Tls, settings => Set(settings, name, value), certificates: _files).Dispose())!;
        Assert.That($"{refused.What}: {refused.Why}. {refused.Next}", Does.Contain(why));
        using TestServer server = new(Route.Tls, certificates: _files);
        using RespConnection client = server.Connect();
        string error = client.Call("CONFIG", "SET", name, value).ToString();
        Assert.That(error, Does.StartWith($"-ERR CONFIG SET failed (possibly related to argument '{name}') - ").And.Contain(why));
        using RespConnection later = server.Connect();
        Assert.That(later.Call("PING").ToString(), Is.EqualTo("+PONG"), "the keys before them still count");
        Assert.That(later.Call("CONFIG", "GET", name).ToString(), Does.Not.Contain(value));
    }

    [Test]
    public void Without_anybody_to_believe_in_clients_cannot_be_asked_for_certificates()
    {
        GarnetException refused = Assert.Throws<GarnetException>(
            () => new TestServer(Route.Tls, static settings => settings.Tls.AuthorityFile = "", certificates: _files).Dispose())!;
        Assert.That(refused.Next, Does.Contain("tls-auth-clients no"));
        using TestServer server = new(Route.Tls, static settings => (settings.Tls.AuthorityFile, settings.Tls.ClientCheck) = ("", TlsClientCheck.No), certificates: _files);
        using RespConnection client = server.Connect();
        Assert.That(client.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void An_encrypted_key_is_opened_with_its_password_which_is_never_shown()
    {
        _files.Make("server", "CN=localhost", password: "open sesame");
        using TestServer server = new(Route.Tls, static settings => settings.Tls.KeyPassword = "open sesame", certificates: _files);
        using RespConnection client = server.Connect();
        Assert.That(client.Call("CONFIG", "GET", "*").ToString(), Does.Not.Contain("sesame"));
        Assert.That(client.Call("CONFIG", "SET", "tls-key-file-pass", "wrong").ToString(),
            Does.Contain("tls-key-file-pass is not the password that the key is encrypted with").And.Not.Contain("sesame"));
        Assert.That(client.Call("CONFIG", "SET", "tls-key-file-pass", "").ToString(), Does.Contain("the key is encrypted, and there is no password for it. Set tls-key-file-pass"));
    }

    [Test]
    public void A_new_pair_set_at_once_counts_for_new_connections_and_old_ones_stay()
    {
        using TestServer server = new(Route.Tls, certificates: _files);
        _files.Make("next", "CN=next");
        using RespConnection old = server.Connect();
        Assert.That(old.Call("CONFIG", "SET", "tls-cert-file", _files.Path("next.crt")).ToString(), Does.Contain("the key is not that of the certificate").And.Contain("at once"));
        Assert.That(NameShown(server), Is.EqualTo("CN=localhost"));
        Assert.That(old.Call("CONFIG", "SET", "tls-cert-file", _files.Path("next.crt"), "tls-key-file", _files.Path("next.key")).ToString(), Is.EqualTo("+OK"));
        Assert.That(NameShown(server), Is.EqualTo("CN=next"));
        Assert.That(old.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void Files_that_change_are_taken_by_the_next_connection_once_they_can_be_used()
    {
        RecordedLines lines = new();
        using TestServer server = new(Route.Tls, certificates: _files, lines: lines);
        using RespConnection old = server.Connect();
        _files.Make("server", "CN=renewed");
        string key = File.ReadAllText(_files.ServerKey);
        _files.Write("server.key", "half a k");
        for (int i = 0; i < 3; i++)
        {
            server.Advance(PastTheLook);
            Assert.That(NameShown(server), Is.EqualTo("CN=localhost"), "until the pair is whole");
        }

        Assert.That(lines.All.Count(static line => line.Contains("The files of TLS have changed and cannot be used", StringComparison.Ordinal)), Is.EqualTo(1), "said once");
        _files.Write("server.key", key);
        server.Advance(PastTheLook);
        Assert.That(NameShown(server), Is.EqualTo("CN=renewed"));
        Assert.That(lines.All, Has.Some.Contain("New connections get the certificate"));
        Assert.That(old.Call("PING").ToString(), Is.EqualTo("+PONG"));
        File.Delete(_files.ServerKey);
        server.Advance(PastTheLook);
        Assert.That(NameShown(server), Is.EqualTo("CN=renewed"), "a file that is gone takes nothing away");
    }

    [Test]
    public void Between_the_first_and_the_second_of_two_new_files_nothing_is_said_or_used()
    {
        RecordedLines lines = new();
        using TestServer server = new(Route.Tls, certificates: _files, lines: lines);
        _files.Make("next", "CN=renewed");
        File.Copy(_files.Path("next.crt"), _files.ServerCertificate, overwrite: true);
        server.Advance(PastTheLook);
        Assert.That(NameShown(server), Is.EqualTo("CN=localhost"));
        File.Copy(_files.Path("next.key"), _files.ServerKey, overwrite: true);
        server.Advance(PastTheLook);
        Assert.That(NameShown(server), Is.EqualTo("CN=renewed"));
        Assert.That(lines.All, Has.None.Contain("cannot be used"));
    }

    [Test]
    public void One_number_for_both_ports_is_refused_at_the_start()
    {
        GarnetException refused = Assert.Throws<GarnetException>(() => new TestServer(
            Route.Tls, static settings => settings.Network.Port = settings.Tls.Port = 22_001, certificates: _files).Dispose())!;
        Assert.That($"{refused.What}: {refused.Why}. {refused.Next}", Does.Contain("tls-port 22001: port has the same number").And.Contain("Set port 0"));
    }

    [Test]
    public void What_is_hardly_meant_is_said_at_the_start()
    {
        const UnixFileMode Owners = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        Assert.That(SaidAtStart(Route.Epoll, settings => settings.Tls.CertificateFile = _files.ServerCertificate), Has.Exactly(1).Contain("tls-cert-file has no effect"));
        Assert.That(SaidAtStart(Route.Tls, static settings => (settings.Tls.ClientCheck, settings.Tls.ClientUser) = (TlsClientCheck.No, TlsClientUser.Cn)),
            Has.Exactly(1).Contain("tls-auth-clients-user has no effect"));
        Assert.That(SaidAtStart(Route.Tls, settings => settings.Tls.AuthorityDirectory = _files.Folder), Has.Exactly(1).Contain($"run openssl rehash {_files.Folder}"));
        if (OperatingSystem.IsWindows()) return;
        File.SetUnixFileMode(_files.ServerKey, Owners | UnixFileMode.OtherRead);
        Assert.That(SaidAtStart(Route.Tls, static _ => { }), Has.Exactly(1).Contain("can be read by everybody on this machine"));
        File.SetUnixFileMode(_files.ServerKey, Owners);
        _files.Write("5ed36f99.0", File.ReadAllText(_files.AuthorityFile));
        string[] said = [.. SaidAtStart(Route.Tls, settings =>
            (settings.Tls.AuthorityDirectory, settings.Tls.ClientUser) = (_files.Folder, TlsClientUser.Cn))];
        Assert.That(said, Has.None.Contain("no effect").And.None.Contain("rehash").And.None.Contain("everybody"));
    }

    [Test]
    public void A_directory_that_has_gone_is_no_mistake_of_the_server()
    {
        DirectoryInfo gone = Directory.CreateTempSubdirectory("garnet-gone-");
        using TestServer server = new(Route.Tls, settings => settings.Tls.AuthorityDirectory = gone.FullName, certificates: _files);
        gone.Delete();
        using RespConnection client = server.Connect();
        Assert.That(client.Call("CONFIG", "SET", "tls-auth-clients-user", "CN").ToString(), Is.EqualTo("+OK"));
    }

    [Test]
    public void What_CONFIG_SET_makes_hardly_meant_is_said_once()
    {
        RecordedLines lines = new();
        using TestServer server = new(Route.Tls, certificates: _files, lines: lines);
        using RespConnection client = server.Connect();
        Assert.That(client.Call("CONFIG", "SET", "tls-auth-clients", "no").ToString(), Is.EqualTo("+OK"));
        Assert.That(lines.All, Has.None.Contain("tls-auth-clients-user has no effect"));
        Assert.That(client.Call("CONFIG", "SET", "tls-auth-clients-user", "CN").ToString(), Is.EqualTo("+OK"));
        Assert.That(client.Call("CONFIG", "SET", "tls-protocols", "TLSv1.3").ToString(), Is.EqualTo("+OK"));
        Assert.That(lines.All, Has.Exactly(1).Contain("tls-auth-clients-user has no effect"));
    }

    [Test]
    public void An_authority_that_is_withdrawn_is_no_longer_believed()
    {
        using TestServer server = new(Route.Tls, certificates: _files);
        using RespConnection old = server.Connect();
        using TestCertificates others = new();
        Assert.That(old.Call("CONFIG", "SET", "tls-ca-cert-file", others.AuthorityFile).ToString(), Is.EqualTo("+OK"));
        Assert.That(() => Pinged(server), Throws.InstanceOf<IOException>());
        Assert.That(old.Call("CONFIG", "SET", "tls-ca-cert-file", _files.AuthorityFile).ToString(), Is.EqualTo("+OK"), "who is connected stays");
        Pinged(server);
    }

    [Test]
    public void Every_setting_of_TLS_that_may_change_makes_other_keys_or_is_read_each_time()
    {
        string[] others = ["tls-auth-clients-user", "tls-handshake-timeout", "tls-dh-params-file"]; // the last one is taken and has no effect
        SettingTable table = new();
        new ServerSettings().Register(table);
        Assert.That(
            table.All.Select(static setting => setting.Declared).Where(static one => one.Live && one.Name.StartsWith("tls-", StringComparison.Ordinal)).Select(static one => one.Name),
            Is.EquivalentTo(TlsKeys.Names.Concat(others)));
    }

    [Test]
    public void When_the_certificate_expires_stands_in_INFO()
    {
        using TestServer server = new(Route.Tls, certificates: _files);
        using RespConnection client = server.Connect();
        string info = client.Call("INFO", "server").Text;
        using X509Certificate2 shown = X509CertificateLoader.LoadCertificateFromFile(_files.ServerCertificate);
        long expires = new DateTimeOffset(shown.NotAfter.ToUniversalTime()).ToUnixTimeSeconds();
        Assert.That(info, Does.Contain($"garnet_tls_certificate_expires:{expires}\r\n").And.Contain($"garnet_tls_port:{server.Server.TlsPort}\r\n"));
    }

    /// <summary>A client learns that its certificate is refused with the first reply that it waits for (TLS 1.3).</summary>
    private static void Pinged(TestServer server)
    {
        using RespConnection client = server.Connect();
        Assert.That(client.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    private IEnumerable<string> SaidAtStart(Route route, Action<ServerSettings> adjust)
    {
        RecordedLines lines = new();
        using TestServer server = new(route, adjust, certificates: _files, lines: lines);
        return [.. lines.All];
    }

    private string NameShown(TestServer server)
    {
        using TcpClient tcp = new("localhost", server.Server.TlsPort);
        using SslStream stream = _files.Over(tcp.GetStream());
        return stream.RemoteCertificate!.Subject;
    }

    private static void Set(ServerSettings settings, string name, string value)
    {
        SettingTable table = new();
        settings.Register(table);
        Assert.That(table.SetAtStart(name, value, SettingSource.CommandLine, "test"), Is.Null);
    }
}
