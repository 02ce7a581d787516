using Garnet.Media;

namespace Garnet.Aof.Disk;

/// <summary>An open file of an <see cref="IDisk"/>.</summary>
public interface IDiskFile : IDisposable
{
    /// <summary>Length in bytes.</summary>
    long Length { get; }

    /// <summary>From where on there are only zeros, as far as can be told without reading them; at most the length.</summary>
    long DataEnd => Length;

    /// <summary>What offsets, lengths and addresses of <see cref="Write"/> must be multiples of; 1 if anything goes.</summary>
    int Alignment { get; }

    /// <summary>Bytes whose writing costs no more than a copy now; until they are synced they outlive the process, not the machine.</summary>
    long CopyRoom => Alignment == 1 ? long.MaxValue : 0;

    /// <summary>
    /// A sync waits for no device, and says something only of what the same thread has written: who writes syncs, before anybody else writes.
    /// </summary>
    bool SyncIsFence => false;

    /// <summary>Writes all of the bytes at the offset, extending the file if need be.</summary>
    void Write(long offset, ReadOnlySpan<byte> bytes);

    /// <summary>Reads up to the span's length at the offset; fewer bytes at the end of the file only.</summary>
    int Read(long offset, Span<byte> to);

    /// <summary>True while the last that was written stands in a second file beside this one, without which this one is not whole.</summary>
    bool HasTail => false;

    /// <summary>Which tail that is; 0 without one.</summary>
    ulong TailNumber => 0;

    /// <summary>The run of the system in which the tail counts.</summary>
    string TailRun => StagingFile.Run;

    /// <summary>What a sync is worth.</summary>
    PersistenceDomain Domain => PersistenceDomain.Disk;

    /// <summary>What the first bytes of the file are to be once all that was written stands in it: for a file with a tail, when it is closed.</summary>
    void LeaveAs(ReadOnlySpan<byte> firstBytes)
    {
    }

    /// <summary>
    /// Hands what was written to the system, where that has not been done: a failure is that of a write, nothing is lost, and it may be tried again.
    /// </summary>
    void Settle()
    {
    }

    /// <summary>Makes what was written durable. After a failure nothing written since the last success may be believed.</summary>
    void Sync();

    /// <summary>
    /// All was written that will be: what the file was to get later it gets now. A failure may be waited out, and it may be tried again.
    /// </summary>
    void Finish()
    {
    }

    /// <summary>What stands between the offsets may go to the disk, so that a sync has less to do.</summary>
    void BeginSync(long from, long to)
    {
    }

    /// <summary>Cuts or extends the file (with zeros).</summary>
    void SetLength(long bytes);
}
