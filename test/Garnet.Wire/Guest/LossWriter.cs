using System.Globalization;
using NUnit.Framework;

namespace Garnet.Wire.Guest;

/// <summary>Writes more than memory holds, again and again, and knows of each key what it was given: whatever else is found is wrong.</summary>
internal sealed class LossWriter
{
    private const int Keys = 5_000, PerBatch = 100, ValueBytes = 3_000;
    private readonly int[] _version = new int[Keys];

    private string _refused = "no write was refused";

    /// <summary>Reads that were errors.</summary>
    public int Errors { get; private set; }

    public void WriteAll(RespConnection connection) => InBatches(connection, key => ["SET", Key(key), Value(key, ++_version[key])], (key, reply) =>
    {
        if (reply.Kind != '-') return;
        _version[key]--; // the one before stays
        _refused = $"{Key(key)} was refused: {reply.Text}";
    });

    /// <summary>Each key has what it was given last, which may be nothing, or is an error.</summary>
    public void ReadAll(RespConnection connection, bool mayLack) => InBatches(connection, static key => ["GET", Key(key)], (key, reply) =>
    {
        if (reply.Kind == '-') Errors++;
        bool isRight = _version[key] == 0 ? reply.Kind == '$' && !reply.IsBulk : reply.Text == Value(key, _version[key]);
        Assert.That(reply.Kind == '-' ? mayLack : isRight, $"{Key(key)}, version {_version[key]}: {reply.Kind} {reply.Text}; {_refused}");
    });

    /// <summary>Each key has what it was given once, or nothing, or is an error.</summary>
    public void ReadAfterLoss(RespConnection connection) => InBatches(connection, static key => ["GET", Key(key)], (key, reply) =>
    {
        bool isOwn = reply.Kind == '-' || !reply.IsBulk || Enumerable.Range(1, _version[key]).Any(version => reply.Text == Value(key, version));
        Assert.That(isOwn, $"{Key(key)}: {reply.Text}");
    });

    private static void InBatches(RespConnection connection, Func<int, string[]> command, Action<int, RespNode> judge)
    {
        for (int from = 0; from < Keys; from += PerBatch)
        {
            connection.Send([.. Enumerable.Range(from, PerBatch).SelectMany(key => RespConnection.Encode(command(key)))]);
            for (int key = from; key < from + PerBatch; key++) judge(key, connection.Read());
        }
    }

    private static string Key(int key) => string.Create(CultureInfo.InvariantCulture, $"k{key}");

    // Key and version in all of it.
    private static string Value(int key, int version)
    {
        string part = string.Create(CultureInfo.InvariantCulture, $"{key}.{version};");
        return string.Concat(Enumerable.Repeat(part, ValueBytes / part.Length));
    }
}
