using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>One entry of the write log: key and arguments in memory that stays where it is, with the slack the store reads into.</summary>
internal sealed class LogEntry
{
    /// <summary>Stands for the database in an entry on the whole store.</summary>
    internal const int Control = -1;

    private const int SlackBytes = 64;

    private readonly byte[] _bytes;
    private readonly int _keyBytes;
    private readonly int _argumentBytes;

    internal LogEntry(byte opId, int database, ReadOnlySpan<byte> key, ReadOnlySpan<byte> arguments)
    {
        (OpId, Database, _keyBytes, _argumentBytes) = (opId, database, key.Length, arguments.Length);
        _bytes = GC.AllocateUninitializedArray<byte>(key.Length + arguments.Length + (2 * SlackBytes), pinned: true);
        key.CopyTo(_bytes);
        arguments.CopyTo(_bytes.AsSpan(key.Length + SlackBytes));
    }

    internal byte OpId { get; }
    internal int Database { get; }
    internal int ArgumentBytes => _argumentBytes;
    internal ReadOnlySpan<byte> Key => _bytes.AsSpan(0, _keyBytes);
    internal ReadOnlySpan<byte> Arguments => _bytes.AsSpan(_keyBytes + SlackBytes, _argumentBytes);

    internal unsafe bool Apply(ReplayTable table, Store store, StoreSession session)
    {
        fixed (byte* start = _bytes)
        {
            var arguments = new ReadOnlySpan<byte>(start + _keyBytes + SlackBytes, _argumentBytes);
            return Database == Control
                ? ReplayTable.ApplyControl(store, OpId, arguments)
                : table.Apply(session, OpId, store.Key(start, _keyBytes, store.Namespaces.Id(Database)), arguments);
        }
    }
}
