namespace Garnet.Wire.Differential;

/// <summary>
/// What two clients send in turn, by a seed: random commands, between them MULTI, EXEC, WATCH and the rest, so that transactions
/// meet changes of the other client, empty and swapped databases, refused commands and each other.
/// </summary>
internal sealed class TransactionStream(int seed)
{
    private static readonly string[] Keys = ["a", "b", "c", "n1", "n2", "f", "", "\0bin\r\n"];

    private readonly Random _random = new(seed);
    private readonly CommandStream _commands = new(seed);
    private readonly bool[] _open = new bool[2];

    /// <summary>Whose turn it is, and the command.</summary>
    public (bool First, string[] Words) Next()
    {
        int side = _random.Next(2);
        string[] words = _random.Next(100) switch
        {
            < 12 => ["MULTI"],
            < 24 when _open[side] => ["EXEC"],
            < 40 when !_open[side] => Watch(),
            < 42 => ["DISCARD"],
            < 44 => ["UNWATCH"],
            < 45 => ["EXEC", "x"],
            < 46 => ["FLUSHDB"],
            < 47 => ["FLUSHALL"],
            < 49 => ["SWAPDB", "0", "1"],
            < 50 => Watch(),
            < 60 => Touch(),
            _ => Plain(),
        };
        if (words.Length == 1 && words[0] is "MULTI" or "EXEC" or "DISCARD") _open[side] = words[0] == "MULTI";
        return (side == 0, words);
    }

    private string[] Watch()
    {
        List<string> words = ["WATCH"];
        while (words.Count == 1 || _random.Next(2) == 0) words.Add(Key());
        return [.. words];
    }

    // What changes a key, though its value may stay as it is.
    private string[] Touch() => _random.Next(8) switch
    {
        0 => ["PEXPIREAT", Key(), "4102444800000"],
        1 => ["GETEX", Key(), "PXAT", "4102444800000"],
        2 => ["PERSIST", Key()],
        3 => ["SET", Key(), "v"],
        4 => ["APPEND", Key(), ""],
        5 => ["DEL", Key()],
        6 => ["PEXPIREAT", Key(), "1"],
        _ => ["RENAME", Key(), Key()],
    };

    private string[] Plain()
    {
        while (true)
        {
            string[] words = _commands.Next();
            // In RESP3 these speak of the connection, which the reset of the other side would have to know.
            if (words[0] is not ("HELLO" or "hello" or "AUTH")) return words;
        }
    }

    private string Key() => Keys[_random.Next(Keys.Length)];
}
