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

    /// <summary>Writes the keys as an array.</summary>
    internal readonly void WriteTo(RespWriter writer)
    {
        writer.Array(Count);
        writer.Raw(new ReadOnlySpan<byte>(_keys.Head, _keys.Count));
    }

    /// <summary>Gives the memory back.</summary>
    internal void Free() => _keys.Free();
}
