namespace Garnet.Server.Persistence;

/// <summary>
/// How far the logs came that this server led and leads no more: whoever still waits for one of them learns from here what became of
/// what it waits for. The last ones; of an earlier one nothing is believed to be kept.
/// </summary>
internal sealed class EndedLogs
{
    private const int KeptMax = 16; // nobody waits for long once a log has ended

    /// <summary>A log that was led in a term: up to where replies could acknowledge, and up to where it was synced.</summary>
    internal readonly record struct Ended(uint Term, ulong Kept, ulong Durable);

    private volatile Ended[] _all = [];

    /// <summary>A log has ended; under the owner's gate.</summary>
    internal void Add(Ended log) => _all = [.. _all.TakeLast(KeptMax - 1), log];

    /// <summary>What became of a term's log; zeros if nobody knows.</summary>
    internal Ended Of(uint term) => Array.FindLast(_all, log => log.Term == term);
}
