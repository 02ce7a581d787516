using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Reading;

/// <summary>
/// Reads the batches of a log in order, all parts of a batch together. The first batch that is not whole in all sublogs
/// ends the log (<see cref="Failure"/>); <see cref="TailScan"/> says what that end means. Memory: one block per sublog, or
/// the longest part if that is longer.
/// </summary>
internal sealed class LogReader : IDisposable
{
    private readonly SublogCursor[] _cursors;
    private readonly ulong _after;
    private ulong _start;
    private bool _began;

    /// <summary>Reads what follows batch <paramref name="after"/>; the batches before it are checked as far as they are met.</summary>
    public LogReader(IDisk disk, int sublogs, ulong after)
    {
        _after = after;
        LastBatch = after;
        _cursors = new SublogCursor[sublogs];
        for (int i = 0; i < sublogs; i++) _cursors[i] = new SublogCursor(disk, i, sublogs);
    }

    public IReadOnlyList<SublogCursor> Cursors => _cursors;
    /// <summary>The last batch that is whole in all sublogs, at least the one to read after.</summary>
    public ulong LastBatch { get; private set; }
    /// <summary>True if the log itself reaches <see cref="LastBatch"/>, so that its chain can go on.</summary>
    public bool Reaches => _cursors.All(cursor => cursor.FileIndex >= 0 && cursor.Next == LastBatch + 1);
    /// <summary>The last batch that the log itself holds in all sublogs.</summary>
    public ulong Held => Math.Min(LastBatch, _cursors.Min(static cursor => cursor.Next) - 1);
    /// <summary>True if the log ends before the batch that was to be read after, which a snapshot holds.</summary>
    public bool IsBehindSnapshot => Held < _after;
    public uint LastTerm => _cursors.Max(static cursor => cursor.LastTerm);
    public BatchKind Kind => _cursors[0].Part.Header.Kind;
    public LogFailure? Failure { get; private set; }

    /// <summary>Goes to the next batch; false at the end of the log.</summary>
    public bool Next()
    {
        if (Failure != null || (!_began && !Begin()))
            return false;
        do
        {
            if (!ReadAll())
                return false;
        }
        while (_cursors[0].Next <= _after + 1);
        LastBatch = _cursors[0].Next - 1;
        return true;
    }

    public void Dispose()
    {
        foreach (SublogCursor cursor in _cursors) cursor.Dispose();
    }

    // Sublogs change their files at batches of their own: the ones that begin earlier catch up first.
    private bool Begin()
    {
        foreach (SublogCursor cursor in _cursors) cursor.Begin(_after + 1);
        _began = true;
        if (Array.Find(_cursors, static cursor => cursor.Failure != null) is { } broken)
            return Fail(broken.Failure!);
        _start = _cursors.Max(static cursor => cursor.Next);
        foreach (SublogCursor cursor in _cursors)
        {
            while (cursor.Next < _start)
            {
                if (!cursor.TryRead())
                    return Fail(cursor.Failure!);
                cursor.Accept();
            }
        }
        return true;
    }

    private bool ReadAll()
    {
        foreach (SublogCursor cursor in _cursors)
            if (!cursor.TryRead())
                return Fail(cursor.Failure!);
        BatchHeader first = _cursors[0].Part.Header;
        foreach (SublogCursor cursor in _cursors)
        {
            ref LogPart part = ref cursor.Part;
            if (part.Header.Term != first.Term || part.Header.Kind != first.Kind)
                return Fail(new LogFailure(LogFailureKind.Impossible, cursor.Sublog, part.File, part.Offset, part.Header.Batch,
                    "the parts of the batch do not agree"));
        }
        foreach (SublogCursor cursor in _cursors) cursor.Accept();
        return true;
    }

    private bool Fail(LogFailure failure)
    {
        foreach (SublogCursor cursor in _cursors) cursor.SkipProofs(); // they are no rest of an interrupted write
        Failure = failure;
        return false;
    }
}
