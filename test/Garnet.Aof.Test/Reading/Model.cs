namespace Garnet.Aof.Test.Reading;

/// <summary>What a store should hold, as simply as can be.</summary>
internal sealed class Model
{
    public const int Databases = 3;

    private readonly SortedDictionary<string, string>[] _databases = [new(), new(), new()];

    public void Apply(TestEntry entry)
    {
        SortedDictionary<string, string> keys = _databases[entry.Database];
        int[] numbers = entry.IsControl ? [.. entry.Argument.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(int.Parse)] : [];
        switch (entry.Operation)
        {
            case TestEntry.Put: keys[entry.Key] = entry.Argument; break;
            case TestEntry.Extend: keys[entry.Key] = keys.GetValueOrDefault(entry.Key, "") + entry.Argument; break;
            case TestEntry.Delete: keys.Remove(entry.Key); break;
            case TestEntry.FlushDatabase: _databases[numbers[0]] = new(); break;
            case TestEntry.FlushAll: for (int i = 0; i < Databases; i++) _databases[i] = new(); break;
            default: (_databases[numbers[0]], _databases[numbers[1]]) = (_databases[numbers[1]], _databases[numbers[0]]); break;
        }
    }

    public static Model Parse(string text)
    {
        var model = new Model();
        foreach (string line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            string[] words = line.Split(' ');
            model._databases[int.Parse(words[0], System.Globalization.CultureInfo.InvariantCulture)][words[1]] = words[2];
        }
        return model;
    }

    public string Text() =>
        string.Concat(_databases.SelectMany(static (keys, database) => keys.Select(pair => $"{database} {pair.Key} {pair.Value}\n")));
}
