using Garnet.Aof;
using Garnet.Server.Clients;

namespace Garnet.Server.Persistence;

/// <summary>
/// The log in force and, of those before it that this server led, how far they came: what is kept of a change is asked here, of the log it
/// was written to (net.R7). <paramref name="keptBy"/>: the last batch of a log that replies may acknowledge.
/// </summary>
internal sealed class LedLogs(Func<AppendOnlyLog, ulong> keptBy)
{
    private readonly EndedLogs _ended = new();
    private volatile LogInForce? _inForce;

    /// <summary>The log in force; null before the first one.</summary>
    internal AppendOnlyLog? Current => _inForce?.Aof;

    /// <summary>The term in which it is led; 0 while it follows.</summary>
    internal uint Term => _inForce?.Term ?? 0;

    /// <summary>Replies may acknowledge what the log in force has up to this batch.</summary>
    internal ulong Kept => Current is { } log ? keptBy(log) : ulong.MaxValue;

    /// <summary>The log in force is this one from now on; the one before has ended.</summary>
    internal void Take(AppendOnlyLog log, uint ledTerm)
    {
        if (_inForce is { Term: not 0 } before)
            // first: it is looked for there from then on
            _ended.Add(new EndedLogs.Ended(before.Term, keptBy(before.Aof), before.Aof.Durable));
        _inForce = new LogInForce(log, ledTerm);
    }

    /// <summary>True if replies may acknowledge what is in the batch.</summary>
    internal bool Keeps(LogMark mark)
    {
        if (_inForce is not { } log)
            return true;
        return mark.Batch <= (mark.Term == log.Term ? keptBy(log.Aof) : _ended.Of(mark.Term).Kept);
    }

    /// <summary>True if the batch will never be kept.</summary>
    internal bool HasLost(LogMark mark) => _inForce is { } log && (mark.Term != log.Term || log.Aof.Poison is not null) && !Keeps(mark);

    /// <summary>True if the batch is durable.</summary>
    internal bool IsDurable(LogMark mark) =>
        _inForce is not { } log || mark.Batch <= (mark.Term == log.Term ? log.Aof.Durable : _ended.Of(mark.Term).Durable);

    /// <summary>Somebody waits until the batch is durable.</summary>
    internal void RequireSync(LogMark mark)
    {
        if (_inForce is { } log && log.Term == mark.Term)
            log.Aof.RequireSync(mark.Batch);
    }
}
