using System.Globalization;
using System.Net.Sockets;

namespace Garnet.Wire.Persistence;

/// <summary>
/// One client of the kill loop. It has keys of its own and sends one command at a time, so that at most one is in doubt when
/// the server dies: for each of its keys it knows the value that was acknowledged and, for the command in doubt, the one
/// that may be there as well.
/// </summary>
internal sealed class KillWriter(int number, int seed)
{
    private const int Keys = 40;

    private readonly Random _random = new(seed);
    private readonly Dictionary<string, string?> _acknowledged = [];
    private readonly Dictionary<string, string?> _doubtful = [];
    private long _count;

    /// <summary>Commands acknowledged so far.</summary>
    public long Acknowledged { get; private set; }

    /// <summary>Sends commands until the server is gone.</summary>
    public void Run(RespConnection connection)
    {
        try
        {
            while (true) Step(connection);
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            connection.Dispose();
        }
    }

    /// <summary>What differs between the server and what was acknowledged, or null; settles what was in doubt.</summary>
    public string? Check(RespConnection connection)
    {
        Dictionary<string, string?> found = [];
        foreach (string key in _acknowledged.Keys.Union(_doubtful.Keys))
        {
            RespNode reply = connection.Call("GET", key);
            found[key] = reply.IsBulk ? reply.Text : null;
        }
        string? difference = Difference(found);
        foreach ((string key, string? value) in found) _acknowledged[key] = value;
        _doubtful.Clear();
        return difference;
    }

    private string? Difference(Dictionary<string, string?> found)
    {
        bool happened = _doubtful.Count > 0 && _doubtful.All(one => found[one.Key] == one.Value);
        Dictionary<string, string?> wanted = new(_acknowledged);
        if (happened)
        {
            foreach ((string key, string? value) in _doubtful) wanted[key] = value;
        }
        foreach ((string key, string? value) in found)
        {
            string? expected = wanted.GetValueOrDefault(key);
            if (value != expected) return $"{key}: acknowledged {expected ?? "nothing"}, found {value ?? "nothing"}; in doubt: {string.Join(", ", _doubtful)}";
        }
        return null;
    }

    private void Step(RespConnection connection)
    {
        string value = string.Create(CultureInfo.InvariantCulture, $"{number}.{++_count}.{new string('x', _random.Next(200))}");
        string key = Key(_random.Next(Keys)), other = Key(_random.Next(Keys));
        switch (_random.Next(10))
        {
            case 0: Do(connection, new() { [key] = null }, "DEL", key); break;
            case 1: Do(connection, new() { [key] = value, [other] = value }, "MSET", key, value, other, value); break;
            case 2: Do(connection, new() { [key] = value }, "SET", key, value, "PX", "100000000"); break;
            case 3: Do(connection, new() { [key] = _acknowledged.GetValueOrDefault(key) + "+" }, "APPEND", key, "+"); break;
            case 4: Increment(connection); break;
            case 5: Transact(connection, key, other, value, ["GET", key]); break;
            case 6: Transact(connection, key, other, value, ["SWAPDB", "14", "15"]); break; // both empty: a batch that runs in its order
            default: Do(connection, new() { [key] = value }, "SET", key, value); break;
        }
    }

    private void Increment(RespConnection connection)
    {
        string key = $"w{number}:n";
        long next = long.Parse(_acknowledged.GetValueOrDefault(key) ?? "0", CultureInfo.InvariantCulture) + 1;
        Do(connection, new() { [key] = next.ToString(CultureInfo.InvariantCulture) }, "INCR", key);
    }

    // Half of it must never be found.
    private void Transact(RespConnection connection, string key, string other, string value, string[] between)
    {
        string third = Key(_random.Next(Keys));
        string[][] commands = [["MULTI"], ["SET", key, value], ["DEL", third], between, ["SET", other, value], ["APPEND", key, "+"], ["EXEC"]];
        Dictionary<string, string?> effect = new() { [key] = value };
        effect[third] = null;
        effect[other] = value;
        effect[key] = effect[key] + "+";
        foreach ((string name, string? content) in effect) _doubtful[name] = content;
        connection.Send([.. commands.SelectMany(static words => RespConnection.Encode(words))]);
        RespNode reply = connection.Read();
        for (int i = 1; i < commands.Length; i++) reply = connection.Read();
        if (reply.Items is not { Count: 5 }) throw new InvalidOperationException($"EXEC: {reply}");
        Settle(effect);
    }

    private void Do(RespConnection connection, Dictionary<string, string?> effect, params string[] words)
    {
        foreach ((string key, string? value) in effect) _doubtful[key] = value;
        RespNode reply = connection.Call(words);
        if (reply.Kind == '-') throw new InvalidOperationException($"{words[0]}: {reply.Text}");
        Settle(effect);
    }

    private void Settle(Dictionary<string, string?> effect)
    {
        foreach ((string key, string? value) in effect) _acknowledged[key] = value;
        _doubtful.Clear();
        Acknowledged++;
    }

    private string Key(int index) => $"w{number}:{index}";
}
