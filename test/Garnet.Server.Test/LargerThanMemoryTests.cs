using System.Globalization;
using Garnet.Common.Test;

namespace Garnet.Server.Test;

/// <summary>
/// Ten times as much data as memory, and a hash of four times as much, on a disk that takes its time: whatever a command comes to, it is put off until that has been read, and
/// never has its reactor wait for the disk.
/// </summary>
internal sealed class LargerThanMemoryTests
{
    private const int MemoryBytes = 12 << 20, Clients = 4, Steps = 800, Bytes = 1000;
    private const int Keys = 6 * MemoryBytes / Bytes, Fields = 4 * MemoryBytes / Bytes, PerRequest = 200;

    [TestCase(false)]
    [TestCase(true)]
    public void No_command_has_its_reactor_wait_for_the_disk(bool isSkewed)
    {
        using HangingStage stage = new(MemoryBytes, tierBytes: 320 << 20);
        Fill(stage);
        Assert.That(stage.Records, Is.GreaterThan((Keys + Fields) / 2), "most of it is on the disk");
        (long waits, long postponed) = (stage.Figure("waits"), stage.Figure("postponed"));
        stage.Medium.TakesMs = 5;
        TestClient[] connections = [.. Enumerable.Range(0, Clients).Select(_ => stage.Connect())];
        string? wrong = stage.Slowly(() =>
        {
            Task<string?>[] loads = [.. connections.Select((client, i) => Task.Run(() => new Load(client, i, isSkewed).Run()))];
            return Array.Find(Array.ConvertAll(loads, static load => load.InTime()), static wrong => wrong is not null);
        });
        Array.ForEach(connections, static client => client.Dispose());
        Assert.That((wrong, stage.Figure("waits") - waits), Is.EqualTo((default(string), 0L)));
        Assert.That(stage.Figure("postponed") - postponed, Is.GreaterThan(isSkewed ? Steps / 2 : Steps), "the disk was asked");
        Assert.That(stage.BytesLeft, Is.GreaterThan(-(2 << 20)));
    }

    // What it comes to on the disk comes back to memory first, and may fill it when the first half of the change is done.
    [Test]
    public void A_command_that_finds_no_room_midway_has_changed_nothing()
    {
        const int Old = 24_000, New = 50, LeftMax = 640 << 10, StepBytes = 12 << 10, FillerBytes = 50_000;
        using HangingStage stage = new(MemoryBytes, tierBytes: 64 << 20);
        for (int from = 0; from < Old; from += PerRequest) Put(stage, $"{PerRequest}", Adding("old", from, PerRequest));
        int refused = 0, done = Old;
        for (int left = LeftMax; left > 0; left -= StepBytes)
        {
            stage.Other.Call("TIER.DEMOTE", "key");
            stage.Medium.HangWrites();
            for (int i = 0; stage.BytesLeft > left; i++) Assert.That(stage.Other.Call("SET", $"filler{i}", new string('x', FillerBytes)), Is.EqualTo("OK"));
            string reply = stage.Meanwhile(() => stage.Other.Call(Adding("new", done, New)));
            done += reply == $"{New}" ? New : 0;
            refused += reply.StartsWith("OOM", StringComparison.Ordinal) ? 1 : 0;
            Assert.That(stage.Other.Call("ZCARD", "key"), Is.EqualTo($"{done}"), reply);
            stage.Medium.Mend();
            stage.Other.Call(["DEL", .. Enumerable.Range(0, MemoryBytes / FillerBytes).Select(static i => $"filler{i}")]);
        }

        Assert.That((refused > 0, done > Old), Is.EqualTo((true, true)));
    }

    private static string[] Adding(string name, int from, int entries) =>
        ["ZADD", "key", .. Enumerable.Range(from, entries).SelectMany(i => (string[])[$"{i}", name + Load.Value(i, 0)])];

    private static void Fill(HangingStage stage)
    {
        for (int from = 0; from < Keys; from += PerRequest)
            Put(stage, "OK", ["MSET", .. Enumerable.Range(from, PerRequest).SelectMany(static i => (string[])["k" + i, Load.Value(i, 0)])]);
        for (int from = 0; from < Fields; from += PerRequest)
        {
            Put(stage, $"{PerRequest}", ["HSET", "hash", .. Enumerable.Range(from, PerRequest).SelectMany(static i => (string[])["f" + i, Load.Value(i, 0)])]);
            Put(stage, $"{PerRequest}", ["ZADD", "sorted", .. Enumerable.Range(from, PerRequest).SelectMany(static i => (string[])[$"{i}", "f" + i])]);
        }
    }

    // Writes that come faster than the disk takes them are refused for a while.
    private static void Put(HangingStage stage, string reply, string[] request)
    {
        string said = "";
        Eventually.Holds(() => !(said = stage.Other.Call(request)).StartsWith("OOM", StringComparison.Ordinal));
        Assert.That(said, Is.EqualTo(reply));
    }

    /// <summary>What one client asks, of keys and fields that are its own, beside what each is to be.</summary>
    private sealed class Load(TestClient client, int number, bool isSkewed)
    {
        private readonly Random _random = new(number);
        private readonly Dictionary<int, int> _keys = [], _fields = [];

        public static string Value(int of, int version) => string.Create(CultureInfo.InvariantCulture, $"{of}:{version}:").PadRight(Bytes, 'x');

        public string? Run()
        {
            for (int step = 0; step < Steps; step++)
            {
                int key = Own(Keys), field = Own(Fields);
                (string[] command, string expected) = Next(key, field);
                string reply = client.Call(command);
                if (reply != expected)
                    return $"step {step}, {command[0]} of {key} or {field}: {Shown(reply)}, not {Shown(expected)}";
            }

            return null;
        }

        private (string[] Command, string Reply) Next(int key, int field) => _random.Next(12) switch
        {
            0 or 1 or 2 => (["GET", "k" + key], ValueOf(_keys, key)),
            3 => (["SET", "k" + key, Changed(_keys, key)], "OK"),
            4 => (["SETRANGE", "k" + key, "0", Changed(_keys, key)], $"{Bytes}"),
            5 => (["GETSET", "k" + key, Value(key, Version(_keys, key) + 1)], ValueOf(_keys, key, then: 1)),
            6 => (["MGET", .. Some(key).Select(static i => "k" + i)], $"[{string.Join(' ', Some(key).Select(i => ValueOf(_keys, i)))}]"),
            7 => (["EVAL", "return redis.call('STRLEN', KEYS[1])", "1", "k" + key], $"{Bytes}"),
            8 => (["HGET", "hash", "f" + field], ValueOf(_fields, field)),
            9 => (["HSET", "hash", "f" + field, Changed(_fields, field)], "0"),
            10 => (["HMGET", "hash", .. Some(field).Select(static i => "f" + i)], $"[{string.Join(' ', Some(field).Select(i => ValueOf(_fields, i)))}]"),
            _ => (["ZSCORE", "sorted", "f" + field], $"{field}"),
        };

        private static int[] Some(int from) => [.. Enumerable.Range(0, 5).Select(i => from - (from / Clients * i / 5 * Clients))];

        // The skewed one asks for a tenth of all nine times of ten.
        private int Own(int of)
        {
            int own = of / Clients, among = isSkewed && _random.Next(10) != 0 ? own / 10 : own;
            return (_random.Next(among) * Clients) + number;
        }

        private static int Version(Dictionary<int, int> versions, int of) => versions.GetValueOrDefault(of);

        private static string ValueOf(Dictionary<int, int> versions, int of, int then = 0)
        {
            int version = Version(versions, of);
            versions[of] = version + then;
            return Value(of, version);
        }

        private static string Changed(Dictionary<int, int> versions, int of) => Value(of, versions[of] = Version(versions, of) + 1);

        private static string Shown(string text) => text.Length <= 100 ? text : text[..100];
    }
}
