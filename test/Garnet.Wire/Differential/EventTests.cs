using System.Diagnostics;
using System.Net;
using NUnit.Framework;

namespace Garnet.Wire.Differential;

/// <summary>Keyspace events, command by command as events.txt has them: the same keys, names and order as redis-server's, of every class.</summary>
[Parallelizable] // its servers are its own
internal sealed class EventTests
{
    private const string Classes = "KEAmn", Waits = "WAIT ", Served = "SERVED";
    private const int DeadlineMs = 60_000;

    // Commands that write of which events.txt has none: of another server, or of no keys.
    private static readonly string[] WithoutEvents = ["migrate", "function|load", "function|flush", "function|restore"];

    private ServerPair _pair = null!;

    [OneTimeSetUp]
    public void Start() => _pair = new ServerPair();

    [OneTimeTearDown]
    public void Stop() => _pair?.Dispose();

    [Test]
    public void Every_command_tells_the_events_that_redis_tells()
    {
        using Talk reference = new(_pair.Redis.Address), ours = new(_pair.Ours.Address);
        List<string> differences = [];
        foreach (string line in Lines())
        {
            string wanted = reference.Heard(line), got = ours.Heard(line);
            if (wanted != got) differences.Add($"{line}\n    reference {wanted}\n    ours      {got}");
        }
        Assert.That(differences, Is.Empty, string.Join("\n", differences));
    }

    [Test]
    public void Every_command_that_writes_is_among_them()
    {
        using RespConnection redis = new(_pair.Redis.Address);
        HashSet<string> named = [.. Lines().SelectMany(static line => Quoted.Words(line.StartsWith(Waits, StringComparison.Ordinal) ? line[Waits.Length..] : line) is var words ? new[] { words[0], $"{words[0]}|{words.ElementAtOrDefault(1)}" } : []).Select(static word => word.ToLowerInvariant())];
        IEnumerable<string> missing = redis.Call("COMMAND", "LIST", "FILTERBY", "ACLCAT", "write").Items!.Select(static name => name.Text).Except(named).Except(WithoutEvents);
        Assert.That(missing, Is.Empty);
    }

    private static IEnumerable<string> Lines() =>
        File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Differential/events.txt")).Where(static line => line.Length > 0 && line[0] != '#');

    /// <summary>One server: a client that sends, one that waits, and what is told.</summary>
    private sealed class Talk : IDisposable
    {
        private readonly RespConnection _client, _waiter;
        private readonly EventListener _listener;
        private readonly string _waiterId;

        public Talk(IPEndPoint server)
        {
            (_client, _waiter) = (new RespConnection(server), new RespConnection(server));
            _client.Call("FLUSHALL");
            Assert.That(_client.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0").ToString(), Is.EqualTo("+OK"), "a slow machine would hear of it between two commands");
            _waiterId = _waiter.Call("CLIENT", "ID").Text;
            _listener = new EventListener(server, Classes);
        }

        /// <summary>What is told of a line.</summary>
        public string Heard(string line)
        {
            if (line == Served)
            {
                _waiter.Read();
            }
            else if (line.StartsWith(Waits, StringComparison.Ordinal))
            {
                _waiter.Send(RespConnection.Encode([.. Quoted.Words(line[Waits.Length..])]));
                Stopwatch since = Stopwatch.StartNew();
                while (!_waiter.HasMore && !Blocks() && since.ElapsedMilliseconds < DeadlineMs) { }
            }
            else
            {
                _client.Call([.. Quoted.Words(line)]);
            }
            return _listener.Heard();
        }

        public void Dispose()
        {
            _listener.Dispose();
            _client.Dispose();
            _waiter.Dispose();
        }

        private bool Blocks() => _client.Call("CLIENT", "LIST", "ID", _waiterId).Text.Contains(" flags=b ", StringComparison.Ordinal);
    }
}
