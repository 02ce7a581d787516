using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography.X509Certificates;
using Garnet.Common.Test;
using Garnet.Wire.Clients;
using NUnit.Framework;
using StackExchange.Redis;

namespace Garnet.Wire.Tls;

/// <summary>Stock clients over TLS, each with a certificate of its own.</summary>
[Parallelizable] // servers of its own
internal sealed class TlsClientTests
{
    private TestCertificates _files = null!;
    private EncryptedServer _server = null!;

    [OneTimeSetUp]
    public void Start()
    {
        _files = new TestCertificates();
        _server = new EncryptedServer(_files);
    }

    [OneTimeTearDown]
    public void Stop()
    {
        _server?.Dispose();
        _files?.Dispose();
    }

    private static IEnumerable<object[]> Cases() =>
        from script in new[] { "redis_py.py", "ioredis.js", "node_redis.js" }
        from scenario in new[] { "basics", "pipelines", "pubsub", "scan", "resp3", "big" }
        select new object[] { script, scenario };

    [TestCaseSource(nameof(Cases))]
    public void A_client_goes_through(string script, string scenario) =>
        ClientRun.OfScript(script, _server.TlsPort, scenario, _files.Folder).Verify();

    [Test]
    public void Redis_cli_asks_loads_and_takes_all_data_away()
    {
        Assert.That(Cli("", "ping").Output, Is.EqualTo("PONG\n"));
        string commands = string.Concat(Enumerable.Range(0, 5000).Select(static i => string.Create(CultureInfo.InvariantCulture, $"SET cli:{i} value:{i}\r\n")));
        Assert.That(Cli(commands, "--pipe").Output, Does.Contain("errors: 0, replies: 5000"));
        Assert.That(Cli("", "get", "cli:4999").Output, Is.EqualTo("value:4999\n"));
        string file = _files.Path("dump.rdb");
        ClientRun run = Cli("", "--rdb", file);
        Assert.That(run.Code, Is.Zero, run.Errors + run.Output);
        byte[] bytes = File.ReadAllBytes(file);
        Assert.That(bytes.AsSpan(0, 5).SequenceEqual("REDIS"u8), "the export went over the encrypted connection that had asked for it");
        Assert.That(bytes.AsSpan().IndexOf("value:4999"u8), Is.Positive);
    }

    [Test]
    public void Redis_cli_without_a_certificate_is_refused_and_so_is_one_that_does_not_encrypt()
    {
        Assert.That(ClientRun.Of("redis-cli", ["-p", _server.TlsPortText, "--tls", "--cacert", _files.AuthorityFile, "ping"]).Output, Does.Not.Contain("PONG"));
        Assert.That(ClientRun.Of("redis-cli", ["-p", _server.TlsPortText, "ping"]).Output, Does.Not.Contain("PONG"));
        Assert.That(Cli("", "ping").Output, Is.EqualTo("PONG\n"));
    }

    [TestCase("1", "3", "50")]
    [TestCase("16", "100", "50")]
    [TestCase("4", "100000", "20")]
    public void Redis_benchmark_ends_without_an_error(string pipeline, string bytes, string clients)
    {
        ClientRun run = ClientRun.Of(ClientRun.Find("redis-benchmark"),
            ["-p", _server.TlsPortText, .. Options, "-t", "set,get", "-n", "5000", "-P", pipeline, "-d", bytes, "-c", clients, "-q"]);
        Assert.That(run.Code, Is.Zero, run.Errors + run.Output);
        Assert.That(run.Errors + run.Output, Does.Not.Contain("ERR ").And.Not.Contain("Error"));
    }

    [Test]
    public async Task StackExchange_Redis_works_over_it()
    {
        ConfigurationOptions options = new() { EndPoints = { { "127.0.0.1", _server.TlsPort } }, Ssl = true, SslHost = "localhost", AllowAdmin = true, SyncTimeout = 20_000 };
        options.CertificateSelection += (_, _, _, _, _) => X509Certificate2.CreateFromPemFile(_files.ClientCertificate, _files.ClientKey);
        options.CertificateValidation += (_, certificate, _, _) => certificate!.Issuer == "CN=test authority";
        using ConnectionMultiplexer client = ConnectionMultiplexer.Connect(options);
        IDatabase database = client.GetDatabase();
        Task<long>[] increments = [.. Enumerable.Range(0, 10_000).Select(_ => database.StringIncrementAsync("tls:n"))];
        Assert.That(await Task.WhenAll(increments), Is.EqualTo(Enumerable.Range(1, 10_000)));
        byte[] large = new byte[5_000_000];
        new Random(7).NextBytes(large);
        Assert.That(database.StringSet("tls:large", large));
        Assert.That((byte[]?)database.StringGet("tls:large"), Is.EqualTo(large));
        TaskCompletionSource<string> heard = new();
        client.GetSubscriber().Subscribe(RedisChannel.Literal("tls:c"), (_, message) => heard.TrySetResult(message!));
        database.Publish(RedisChannel.Literal("tls:c"), "hello");
        Assert.That(await heard.Task.WaitAsync(TimeSpan.FromSeconds(60)), Is.EqualTo("hello"));
    }

    [Test]
    public void Keys_are_not_negotiated_anew()
    {
        using Process client = Process.Start(new ProcessStartInfo(ClientRun.Find("openssl"),
            $"s_client -connect 127.0.0.1:{_server.TlsPort} -tls1_2 -CAfile {_files.AuthorityFile} -cert {_files.ClientCertificate} -key {_files.ClientKey}")
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        Task<string> output = client.StandardOutput.ReadToEndAsync(), errors = client.StandardError.ReadToEndAsync();
        client.StandardInput.Write("R\n");
        client.StandardInput.Flush();
        Assert.That(client.WaitForExit(20_000), "it is refused, which ends this client");
        Assert.That(output.InTime() + errors.InTime(), Does.Contain("no renegotiation"));
        using RespConnection other = _server.Connect();
        Assert.That(other.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void The_health_check_asks_an_encrypted_port_if_there_is_no_other()
    {
        ClientRun run = ClientRun.Of(ServerProcess.OurProgram, ["ping", "--port", "0", "--tls-port", _server.TlsPortText, .. _files.Flags.Split(' ')]);
        Assert.That(run.Output, Is.EqualTo("+PONG\n"), run.Errors);
        Assert.That(run.Code, Is.Zero);
    }

    private string[] Options => ["--tls", "--cacert", _files.AuthorityFile, "--cert", _files.ClientCertificate, "--key", _files.ClientKey];

    private ClientRun Cli(string input, params string[] arguments) =>
        ClientRun.Of(ClientRun.Find("redis-cli"), ["-p", _server.TlsPortText, .. Options, .. arguments], input);
}
