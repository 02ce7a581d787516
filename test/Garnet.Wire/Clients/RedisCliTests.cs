using System.Globalization;
using System.Text;
using NUnit.Framework;

namespace Garnet.Wire.Clients;

/// <summary>redis-cli in each of its ways to work.</summary>
[Parallelizable] // servers of its own
[TestFixture]
internal sealed class RedisCliTests
{
    private RestartableServer _server = null!;

    [OneTimeSetUp]
    public void Start()
    {
        _ = ClientRun.Find("redis-cli");
        _server = new RestartableServer();
    }

    [OneTimeTearDown]
    public void Stop() => _server?.Dispose();

    [SetUp]
    public void Empty() => Assert.That(Cli("flushall").Output, Is.EqualTo("OK\n"));

    [Test]
    public void One_command_prints_its_reply()
    {
        Assert.That(Cli("ping").Output, Is.EqualTo("PONG\n"));
        Assert.That(Cli("set", "a", "1").Output, Is.EqualTo("OK\n"));
        Assert.That(Cli("get", "a").Output, Is.EqualTo("1\n"));
        Assert.That(Cli("-x", "set", "b").Code, Is.Zero);
    }

    [Test]
    public void Resp3_is_spoken_when_asked_for()
    {
        Assert.That(Cli("-3", "hello").Output, Does.Contain("proto 3"));
        Assert.That(Cli("-3", "set", "a", "1").Output, Is.EqualTo("OK\n"));
        Assert.That(Cli("-3", "--json", "get", "a").Output, Is.EqualTo("\"1\"\n"));
    }

    [Test]
    public void Commands_from_a_pipe_are_answered_in_order_and_end_with_0()
    {
        ClientRun run = CliWith("set a 1\nincr a\nget a\n\"get\" \"a\"\nnosuch\nincr a\n");
        Assert.That(run.Output.Split('\n'), Is.EqualTo(new[] { "OK", "2", "2", "2", "ERR unknown command 'nosuch', with args beginning with: ", "", "3", "" }));
        Assert.That(run.Code, Is.Zero);
    }

    [Test]
    public void An_error_ends_with_1_when_asked_to()
    {
        Assert.That(Cli("-e", "nosuch").Code, Is.EqualTo(1));
        Assert.That(Cli("-e", "ping").Code, Is.Zero);
    }

    [Test]
    public void Bulk_loading_reports_no_errors()
    {
        StringBuilder commands = new();
        for (int i = 0; i < 5_000; i++) commands.Append(CultureInfo.InvariantCulture, $"SET key:{i} value:{i}\r\n");
        ClientRun run = CliWith(commands.ToString(), "--pipe");
        Assert.That(run.Output, Does.Contain("errors: 0, replies: 5000"));
        Assert.That(Cli("dbsize").Output, Is.EqualTo("5000\n"));
    }

    [Test]
    public void Bulk_loading_counts_errors()
    {
        ClientRun run = CliWith("SET a x\r\nINCR a\r\nSET b 1\r\n", "--pipe");
        Assert.That(run.Output, Does.Contain("errors: 1, replies: 3"));
        Assert.That(run.Code, Is.EqualTo(1));
    }

    [Test]
    public void A_scan_prints_every_key()
    {
        CliWith(string.Concat(Enumerable.Range(0, 500).Select(i => $"SET s:{i.ToString(CultureInfo.InvariantCulture)} v\r\n")), "--pipe");
        string[] keys = Cli("--scan", "--pattern", "s:*").Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.That(keys.Distinct().Count(), Is.EqualTo(500));
    }

    [TestCase("--bigkeys")]
    [TestCase("--memkeys")]
    public void The_largest_keys_are_found(string option)
    {
        Cli("set", "small", "x");
        Cli("set", "large", new string('y', 10_000));
        ClientRun run = Cli(option);
        Assert.That(run.Output, Does.Contain("Sampled 2 keys").And.Contain("Biggest string found '\"large\"'"), run.Errors);
        Assert.That(run.Code, Is.Zero);
    }

    [Test]
    public void Statistics_are_printed_every_interval()
    {
        string[] lines = ClientRun.FirstLines(ClientRun.Find("stdbuf"), ["-oL", "redis-cli", "-p", _server.PortText, "--stat", "-i", "0.1"], 4);
        Assert.That(lines[^1], Does.Match(@"^\d+\s+\S+\s+\d+"));
    }

    [Test]
    public void Latency_is_measured()
    {
        string[] figures = Cli("--latency", "--raw", "-i", "0.5").Output.Split(' ');
        Assert.That(long.Parse(figures[^1], CultureInfo.InvariantCulture), Is.Positive);
    }

    [Test]
    public void Repeated_commands_keep_one_connection() => Assert.That(Cli("-r", "50", "incr", "n").Output, Does.EndWith("\n50\n"));

    private ClientRun Cli(params string[] arguments) => CliWith("", arguments);

    private ClientRun CliWith(string input, params string[] arguments) => ClientRun.Of("redis-cli", ["-p", _server.PortText, .. arguments], input);
}
