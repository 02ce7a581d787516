using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>
/// Gathers keys during a scan, filtered by pattern and type, already encoded as bulk strings: the number must be known before
/// the reply can begin, and nothing may be written to it while a partition is locked.
/// </summary>
internal unsafe struct KeyCollector : IRead
{
    private readonly Glob? _pattern;
    private readonly RecordKind _kind;
    private ByteQueue _keys;

    /// <summary>Bytes that they take.</summary>
    internal readonly int Capacity => _keys.Capacity;

    /// <summary>Keys gathered.</summary>
    internal int Count;

    /// <summary>A collector; null means no pattern, <see cref="RecordKind.None"/> any type.</summary>
    internal KeyCollector(Glob? pattern, RecordKind kind)
    {
        _pattern = pattern;
        _kind = kind;
    }

    /// <summary>The pattern; a lone star means none, so that it also finds the empty key, as in Redis.</summary>
    internal static Glob? PatternOf(ReadOnlySpan<byte> pattern) => pattern.SequenceEqual("*"u8) ? null : new Glob(pattern.ToArray());

    public void Look(in RecordView record)
    {
        if (_kind != RecordKind.None && record.Kind != _kind)
            return;
        if (_pattern?.Matches(record.KeySpan) == false)
            return;
        byte* header = stackalloc byte[32];
        byte* end = RespWriter.BulkHeader(header, record.KeyBytes);
        _keys.Append(header, (int)(end - header));
        _keys.Append(record.KeySpan);
        _keys.Append("\r\n"u8);
        Count++;
    }

    /// <summary>Writes the keys as an array; with <paramref name="mayHaveTwice"/> each once.</summary>
    internal readonly void WriteTo(RespWriter writer, bool mayHaveTwice = false)
    {
        List<Range> again = mayHaveTwice ? Again() : [];
        writer.Array(Count - again.Count);
        int from = 0;
        foreach (Range one in again)
        {
            writer.Raw(new ReadOnlySpan<byte>(_keys.Head + from, one.Start.Value - from));
            from = one.End.Value;
        }
        writer.Raw(new ReadOnlySpan<byte>(_keys.Head + from, _keys.Count - from));
    }

    /// <summary>Gives the memory back.</summary>
    internal void Free() => _keys.Free();

    // Where those stand that are there a second time, as bulk strings.
    private readonly List<Range> Again()
    {
        var seen = new Dictionary<int, List<int>>(Count);
        List<Range> again = [];
        var all = new ReadOnlySpan<byte>(_keys.Head, _keys.Count);
        for (int at = 0, end; at < all.Length; at = end)
        {
            int digits = all[at..].IndexOf((byte)'\n') + 1;
            _ = System.Buffers.Text.Utf8Parser.TryParse(all[(at + 1)..], out int bytes, out _);
            end = at + digits + bytes + 2;
            ReadOnlySpan<byte> key = all[at..end];
            var hash = new HashCode();
            hash.AddBytes(key);
            if (!seen.TryGetValue(hash.ToHashCode(), out List<int>? same))
                seen[hash.ToHashCode()] = [at];
            else if (Has(all, same, key))
                again.Add(at..end);
            else
                same.Add(at);
        }
        return again;
    }

    private static bool Has(ReadOnlySpan<byte> all, List<int> places, ReadOnlySpan<byte> key)
    {
        foreach (int place in places)
        {
            if (all[place..].StartsWith(key))
                return true;
        }
        return false;
    }
}
