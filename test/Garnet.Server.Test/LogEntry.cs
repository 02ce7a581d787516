using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>One entry of the write log: key and arguments in memory that stays where it is, with the slack the store reads into.</summary>
internal sealed class LogEntry
{
    private const int SlackBytes = 64;

    private readonly byte[] _bytes;
    private readonly int _keyBytes;
    private readonly int _argumentBytes;

    internal LogEntry(byte opId, uint ns, ReadOnlySpan<byte> key, ReadOnlySpan<byte> arguments)
    {
        (OpId, Namespace, _keyBytes, _argumentBytes) = (opId, ns, key.Length, arguments.Length);
        _bytes = GC.AllocateUninitializedArray<byte>(key.Length + arguments.Length + (2 * SlackBytes), pinned: true);
        key.CopyTo(_bytes);
        arguments.CopyTo(_bytes.AsSpan(key.Length + SlackBytes));
    }

    internal byte OpId { get; }
    internal uint Namespace { get; }

    internal unsafe bool Apply(ReplayTable table, Store store, StoreSession session)
    {
        fixed (byte* start = _bytes)
        {
            KeyRef key = store.Key(start, _keyBytes, Namespace);
            return table.Apply(session, OpId, key, new ReadOnlySpan<byte>(start + _keyBytes + SlackBytes, _argumentBytes));
        }
    }
}
