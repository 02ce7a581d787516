using System.Globalization;

namespace Garnet.Wire.Tiering;

/// <summary>
/// One client of the kill loop over a tier. It has keys of its own, more than fit in memory, and sends one command at a time, so that at most one is in
/// doubt when the server dies. What it reads on the way is held against what was acknowledged too.
/// </summary>
internal sealed class TierKillWriter(int number, int keys, bool mayVanish) : KilledWriter(number)
{
    private const int PerRead = 100, EveryLong = 700, LongTimes = 400, None = 0, SeenGone = -1;

    private readonly int[] _versions = new int[keys];
    private int _doubtful = -1, _doubtfulVersion;
    private int _next;

    /// <summary>Values moved to the tier by hand that lie in several segments of it.</summary>
    public long LongMoved { get; private set; }

    /// <inheritdoc/>
    public override string? Check(RespConnection connection)
    {
        for (int from = 0; from < keys && Wrong is null; from += PerRead)
        {
            int count = Math.Min(PerRead, keys - from);
            connection.Send([.. Enumerable.Range(from, count).SelectMany(key => RespConnection.Encode(["GET", Key(key)]))]);
            for (int key = from; key < from + count; key++) Settle(key, connection.Read());
        }
        _doubtful = -1;
        return Wrong;
    }

    protected override void Step(RespConnection connection)
    {
        // All keys once, so that there is more than memory holds; then any of them.
        int key = _next < keys ? _next++ : Random.Next(keys);
        if (_versions[key] > None && Random.Next(3) != 0)
        {
            for (int read = 0; read < 2; read++) Judge(key, connection.Call("GET", Key(key)), _versions[key]);
            return;
        }
        bool deletes = _versions[key] > None && Random.Next(8) == 0;
        (_doubtful, _doubtfulVersion) = (key, deletes ? None : Random.Next(1, int.MaxValue));
        RespNode reply = deletes ? connection.Call("DEL", Key(key)) : connection.Call("SET", Key(key), Value(key, _doubtfulVersion)!);
        if (reply.Kind == '-' && !reply.Text.StartsWith("OOM", StringComparison.Ordinal)) Wrong ??= $"{Key(key)}: {reply.Text}";
        if (reply.Kind != '-') (_versions[key], Acknowledged) = (_doubtfulVersion, Acknowledged + 1);
        _doubtful = -1;
        if (reply.Kind != '-' && !deletes && IsLong(key) && connection.Call("TIER.DEMOTE", Key(key)).ToString() == ":1")
            LongMoved++;
    }

    private static bool IsLong(int key) => key % EveryLong == EveryLong / 2;

    private void Settle(int key, RespNode found)
    {
        bool happened = key == _doubtful && (found.IsBulk ? found.Text : null) == Value(key, _doubtfulVersion);
        if (happened) _versions[key] = _doubtfulVersion;
        else Judge(key, found, _versions[key]);
    }

    private void Judge(int key, RespNode found, int version)
    {
        string? expected = Value(key, version), text = found.IsBulk ? found.Text : null;
        bool isRight = found.Kind != '-' && (text == expected || (text is null && mayVanish));
        if (!isRight) Wrong ??= $"{Key(key)}: acknowledged {(version == SeenGone ? "nothing, as a read has seen" : Start(expected))}, found {found.Kind} {Start(found.IsBulk ? found.Text : found.ToString())}";
        else if (text is null && version > None) _versions[key] = SeenGone;
    }

    private static string Start(string? text) => text is null ? "nothing" : text[..Math.Min(text.Length, 80)];

    private string Key(int index) => string.Create(CultureInfo.InvariantCulture, $"w{Number}:{index}");

    // Of 2 to 4 KB, or of some of 0.8 to 1.6 MB, of which most are longer than a segment, with key and version in all of it.
    private string? Value(int key, int version)
    {
        if (version <= None) return null;
        string part = string.Create(CultureInfo.InvariantCulture, $"{Number}.{key}.{version};");
        return string.Concat(Enumerable.Repeat(part, (2_000 + (version % 2_000)) * (IsLong(key) ? LongTimes : 1) / part.Length));
    }
}
