using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Server.Keys;

/// <summary>
/// Gathers keys during a scan, filtered by pattern and type, already encoded as bulk strings: the number must be known before
/// the reply can begin, and nothing may be written to it while a partition is locked.
/// </summary>
internal unsafe struct KeyCollector : IRead
{
    private readonly byte* _pattern;
    private readonly int _patternBytes;
    private readonly RecordKind _kind;
    private ByteQueue _keys;

    /// <summary>Keys gathered.</summary>
    internal int Count;

    /// <summary>A collector; a length of -1 means no pattern, <see cref="RecordKind.None"/> any type.</summary>
    internal KeyCollector(Arg pattern, RecordKind kind)
    {
        _pattern = pattern.Bytes;
        _patternBytes = pattern.Length;
        _kind = kind;
    }

    /// <summary>No pattern.</summary>
    internal static Arg All => new() { Length = -1 };

    /// <summary>The pattern; a lone star means none, so that it also finds the empty key, as in Redis.</summary>
    internal static Arg PatternOf(Arg pattern) => pattern.Length == 1 && *pattern.Bytes == '*' ? All : pattern;

    public void Look(in RecordView record)
    {
        if (_kind != RecordKind.None && record.Kind != _kind)
            return;
        if (_patternBytes >= 0 && !Glob.Matches(new ReadOnlySpan<byte>(_pattern, _patternBytes), record.KeySpan))
            return;
        byte* header = stackalloc byte[32];
        byte* end = RespWriter.BulkHeader(header, record.KeyBytes);
        _keys.Append(header, (int)(end - header));
        _keys.Append(record.KeySpan);
        _keys.Append("\r\n"u8);
        Count++;
    }

    /// <summary>Writes the keys as an array and gives the memory back.</summary>
    internal void WriteTo(RespWriter writer)
    {
        writer.Array(Count);
        writer.Raw(new ReadOnlySpan<byte>(_keys.Head, _keys.Count));
        _keys.Free();
    }
}
