using Tsavorite;

namespace Garnet.Server.Persistence;

/// <summary>Stands where the log would be when there is none: counts changes for the save points, a line of its own per partition.</summary>
internal sealed class ChangeCounter(int partitions) : IWriteLog, IDisposable
{
    private const int Stride = 8; // longs to a cache line

    private readonly long[] _counts = new long[partitions * Stride];
    private readonly ThreadLocal<byte[]> _room = new(static () => new byte[256]);

    /// <summary>Changes so far; may miss those of the moment.</summary>
    internal long Changes
    {
        get
        {
            long sum = 0;
            for (int i = 0; i < _counts.Length; i += Stride)
                sum += Volatile.Read(ref _counts[i]);
            return sum;
        }
    }

    /// <inheritdoc/>
    public ulong Batch => 1;

    /// <inheritdoc/>
    public long StepBytesMax => Array.MaxLength; // of the room below

    /// <inheritdoc/>
    public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax)
    {
        if (_room.Value!.Length < bytesMax)
            _room.Value = new byte[bytesMax];
        return _room.Value;
    }

    /// <inheritdoc/>
    public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes) =>
        _counts[partition * Stride]++;

    /// <inheritdoc/>
    public void Hold()
    {
    }

    /// <inheritdoc/>
    public ulong Close() => 1;

    /// <inheritdoc/>
    public void Control(byte opId, ReadOnlySpan<byte> arguments) => _counts[0]++;

    /// <inheritdoc/>
    public ulong CloseOrdered() => 0;

    /// <inheritdoc/>
    public void Release()
    {
    }

    /// <inheritdoc/>
    public void Dispose() => _room.Dispose();
}
