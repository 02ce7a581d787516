using System.Globalization;
using Garnet.Wire.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Tls;

/// <summary>Servers that reach each other over TLS: replicas, the target of MIGRATE, stock Sentinels.</summary>
[Parallelizable] // servers of its own
internal sealed class TlsLinkTests
{
    private const int WaitMs = 60_000, Values = 2000;

    private TestCertificates _files = null!;

    [SetUp]
    public void Make() => _files = new TestCertificates();

    [TearDown]
    public void Delete() => _files.Dispose();

    [Test]
    public void A_replica_follows_its_primary_over_it_from_a_full_copy_on()
    {
        using EncryptedServer primary = new(_files, "--tls-replication yes"), replica = new(_files, "--tls-replication yes");
        using RespConnection writer = primary.Connect(), reader = replica.Connect();
        Fill(writer, 0);
        Assert.That(reader.Call("REPLICAOF", "127.0.0.1", primary.TlsPortText).ToString(), Is.EqualTo("+OK"));
        AwaitLink(reader);
        Fill(writer, Values);
        Assert.That(writer.Call("WAIT", "1", $"{WaitMs}").ToString(), Is.EqualTo(":1"));
        Assert.That(reader.Call("DBSIZE").ToString(), Is.EqualTo($":{2 * Values}"));
        Assert.That(reader.Call("GET", $"k{Values}").Text, Has.Length.EqualTo(1000));
        Assert.That(writer.Call("INFO", "replication").Text, Does.Contain($"port={replica.TlsPort},"), "others reach the replica by its encrypted port");
        Assert.That(reader.Call("CLIENT", "CONSISTENCY", "BARRIER").Kind, Is.Not.EqualTo('_'));
        Assert.That(reader.Call("REPLICAOF", "NO", "ONE").ToString(), Is.EqualTo("+OK"));
        Assert.That(reader.Call("DBSIZE").ToString(), Is.EqualTo($":{2 * Values}"));
    }

    [Test]
    public void A_primary_without_a_certificate_that_is_believed_is_not_followed()
    {
        using TestCertificates others = new();
        using EncryptedServer primary = new(others, "--tls-auth-clients no"), replica = new(_files, "--tls-replication yes");
        using RespConnection reader = replica.Connect();
        Assert.That(reader.Call("REPLICAOF", "127.0.0.1", primary.TlsPortText).ToString(), Is.EqualTo("+OK"));
        Assert.That(() => replica.Process.LastWords, Does.Contain("TLS failed").After(WaitMs, 50));
        Assert.That(ReplicaServer.Field(reader, "master_link_status"), Is.EqualTo("down"));
    }

    [TestCase("", true, "", "set tls-replication yes here, or name its plain port in REPLICAOF")]
    [TestCase("--tls-replication yes", false, "", "is no TLS (wrong version number): name its tls-port in REPLICAOF, or set tls-replication no here")]
    [TestCase("--tls-replication yes", true, "primary", "Name who vouches for it in tls-ca-cert-file here")]
    [TestCase("--tls-replication yes", true, "replica", "its tls-ca-cert-file must name who vouches for that")]
    [TestCase("--tls-replication yes", true, "nobody", "set tls-client-cert-file and tls-client-key-file here")]
    public void A_link_that_cannot_be_names_the_setting_and_what_to_do(string flags, bool toTlsPort, string stranger, string advice)
    {
        using TestCertificates others = new();
        using EncryptedServer primary = new(_files, stranger == "primary" ? $"--tls-cert-file {others.ServerCertificate} --tls-key-file {others.ServerKey}" : "");
        if (stranger == "replica") flags += $" --tls-client-cert-file {others.ClientCertificate} --tls-client-key-file {others.ClientKey}";
        flags += stranger == "nobody" ? $" --tls-ca-cert-file {_files.AuthorityFile}" : " " + _files.Flags;
        using ServerProcess replica = ServerProcess.TryStartOurs(flags)!;
        using RespConnection reader = new(replica.Address);
        string port = toTlsPort ? primary.TlsPortText : primary.Process.Address.Port.ToString(CultureInfo.InvariantCulture);
        Assert.That(reader.Call("REPLICAOF", "127.0.0.1", port).ToString(), Is.EqualTo("+OK"));
        Assert.That(() => replica.LastWords, Does.Contain(advice).After(WaitMs, 50));
    }

    [Test]
    public void MIGRATE_to_the_wrong_kind_of_port_names_the_setting_and_what_to_do()
    {
        using EncryptedServer source = new(_files), target = new(_files);
        using RespConnection at = source.Connect();
        at.Call("SET", "k", "v");
        string plainPort = target.Process.Address.Port.ToString(CultureInfo.InvariantCulture);
        Assert.That(at.Call("MIGRATE", "127.0.0.1", target.TlsPortText, "k", "0", "5000").ToString(), Does.StartWith("-IOERR error or timeout ").And.Contain(
            "set tls-cluster yes here, or name its plain port in MIGRATE"));
        Assert.That(at.Call("CONFIG", "SET", "tls-cluster", "yes").ToString(), Is.EqualTo("+OK"));
        Assert.That(at.Call("MIGRATE", "127.0.0.1", plainPort, "k", "0", "5000").ToString(), Does.StartWith("-IOERR error or timeout ").And.Contain(
            "name its tls-port in MIGRATE, or set tls-cluster no here"));
        using TestCertificates others = new();
        Assert.That(at.Call("CONFIG", "SET", "tls-ca-cert-file", others.AuthorityFile).ToString(), Is.EqualTo("+OK"));
        Assert.That(at.Call("MIGRATE", "127.0.0.1", target.TlsPortText, "k", "0", "5000").ToString(), Does.StartWith("-IOERR error or timeout ").And.Contain(
            "Name who vouches for it in tls-ca-cert-file here"));
        Assert.That(at.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    [Test]
    public void A_primary_gives_its_place_away_over_it()
    {
        using EncryptedServer primary = new(_files, "--tls-replication yes"), replica = new(_files, "--tls-replication yes");
        using RespConnection writer = primary.Connect(), reader = replica.Connect();
        Assert.That(reader.Call("REPLICAOF", "127.0.0.1", primary.TlsPortText).ToString(), Is.EqualTo("+OK"));
        AwaitLink(reader);
        Assert.That(writer.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
        Assert.That(writer.Call("FAILOVER", "TO", "127.0.0.1", replica.TlsPortText).ToString(), Is.EqualTo("+OK"));
        Assert.That(() => Role(primary), Is.EqualTo("slave").After(WaitMs, 50));
        Assert.That(() => Role(replica), Is.EqualTo("master").After(WaitMs, 50));
        using RespConnection next = replica.Connect();
        Assert.That(next.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    [Test]
    public void MIGRATE_goes_to_an_encrypted_port_if_it_is_told_to()
    {
        using EncryptedServer source = new(_files), target = new(_files);
        using RespConnection at = source.Connect(), other = target.Connect();
        at.Call("SET", "k", new string('v', 1 << 20));
        Assert.That(at.Call("MIGRATE", "127.0.0.1", target.TlsPortText, "k", "0", "5000").ToString(), Does.StartWith("-IOERR"));
        Assert.That(at.Call("EXISTS", "k").ToString(), Is.EqualTo(":1"));
        Assert.That(at.Call("CONFIG", "SET", "tls-cluster", "yes").ToString(), Is.EqualTo("+OK"));
        Assert.That(at.Call("MIGRATE", "127.0.0.1", target.TlsPortText, "k", "0", "5000").ToString(), Is.EqualTo("+OK"));
        Assert.That(at.Call("EXISTS", "k").ToString(), Is.EqualTo(":0"));
        Assert.That(other.Call("STRLEN", "k").ToString(), Is.EqualTo($":{1 << 20}"));
    }

    [Test]
    public void A_stock_Sentinel_finds_replicas_and_promotes_one_over_it()
    {
        _ = Servers.Redis; // skips with the reason when it is not there
        using EncryptedServer primary = new(_files, "--tls-replication yes"), replica = new(_files, "--tls-replication yes");
        using RespConnection reader = replica.Connect();
        Assert.That(reader.Call("REPLICAOF", "127.0.0.1", primary.TlsPortText).ToString(), Is.EqualTo("+OK"));
        AwaitLink(reader);
        string file = _files.Write("sentinel.conf", $"""
            tls-replication yes
            tls-cert-file {_files.ClientCertificate}
            tls-key-file {_files.ClientKey}
            tls-ca-cert-file {_files.AuthorityFile}
            sentinel monitor m 127.0.0.1 {primary.TlsPort} 1
            sentinel down-after-milliseconds m 1000
            sentinel failover-timeout m 4000

            """);
        using ServerProcess sentinel = ServerProcess.TryStartSentinel(file)!;
        using RespConnection asked = new(sentinel.Address);
        asked.Call("SENTINEL", "DEBUG", "info-period", "500", "ping-period", "200", "publish-period", "200");
        Assert.That(() => asked.Call("SENTINEL", "REPLICAS", "m").ToString(), Does.Contain(replica.TlsPortText).And.Contain("\"flags\" \"slave\"").After(WaitMs, 50));
        primary.Dispose();
        Assert.That(() => asked.Call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "m").Items![1].Text, Is.EqualTo(replica.TlsPortText).After(WaitMs, 50));
        Assert.That(() => Role(replica), Is.EqualTo("master").After(WaitMs, 50));
    }

    private static void Fill(RespConnection connection, int from)
    {
        string value = new('v', 1000);
        for (int i = from; i < from + Values; i++) connection.Send(RespConnection.Encode("SET", string.Create(CultureInfo.InvariantCulture, $"k{i}"), value));
        for (int i = 0; i < Values; i++) Assert.That(connection.Read().ToString(), Is.EqualTo("+OK"));
    }

    private static void AwaitLink(RespConnection connection) =>
        Assert.That(() => ReplicaServer.Field(connection, "master_link_status"), Is.EqualTo("up").After(WaitMs, 20));

    // Over a new connection: those there were are closed when a role changes.
    private static string Role(EncryptedServer server)
    {
        try
        {
            using RespConnection connection = server.Plain();
            return ReplicaServer.Field(connection, "role");
        }
        catch (IOException)
        {
            return "";
        }
    }
}
