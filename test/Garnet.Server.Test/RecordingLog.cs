using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Keeps every entry of the write log, in order. Partitions write at the same time, each under its own lock.</summary>
internal sealed class RecordingLog : IWriteLog
{
    private readonly Lock _gate = new();
    private readonly List<LogEntry> _entries = [];
    private readonly ThreadLocal<byte[]> _reserved = new(static () => []);

    internal int Count
    {
        get
        {
            lock (_gate) return _entries.Count;
        }
    }

    public ulong Batch => 1;

    public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax)
    {
        if (_reserved.Value!.Length < bytesMax) _reserved.Value = new byte[bytesMax * 2];
        return _reserved.Value.AsSpan(0, bytesMax);
    }

    public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes)
        => Add(new LogEntry(opId, ReplayTable.IsControl(opId) ? LogEntry.Control : database, key.Span, _reserved.Value.AsSpan(0, argumentBytes)));

    /// <summary>Called when a step over all partitions begins.</summary>
    internal Action? Holding { get; set; }

    public void Hold() => Holding?.Invoke();

    public ulong Close() => Batch;

    public void Control(byte opId, ReadOnlySpan<byte> arguments) => Add(new LogEntry(opId, LogEntry.Control, default, arguments));

    public ulong CloseOrdered() => Batch;

    public void Release()
    {
    }

    private void Add(LogEntry entry)
    {
        lock (_gate) _entries.Add(entry);
    }

    internal List<LogEntry> Entries()
    {
        lock (_gate) return [.. _entries];
    }
}
