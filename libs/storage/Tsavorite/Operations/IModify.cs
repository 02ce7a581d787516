namespace Tsavorite;

/// <summary>
/// One deterministic single-key operation: the primary runs it, the log keeps it, replicas run the same code. Implemented by
/// structs. <c>Plan</c> and <c>Write</c> run under the partition lock and must not wait, allocate or throw.
/// </summary>
public interface IModify : ILogged
{
    /// <summary>
    /// Decides, looking at the live record (or at <see cref="RecordKind.None"/>; an expired one has been removed
    /// before). Results meant for the caller are left in fields of the operation.
    /// </summary>
    Verdict Plan(in RecordView existing, ref NewRecord next);

    /// <summary>
    /// Produces the value after <see cref="Verdict.Put"/>. With <paramref name="inPlace"/> the span starts at the
    /// existing value's first byte and still holds it (up to its length or the new one); otherwise the span is
    /// uninitialised and <paramref name="existing"/> is elsewhere.
    /// </summary>
    void Write(in RecordView existing, Span<byte> value, bool inPlace);

    /// <summary>
    /// True if neither what this run leaves nor what it answers depends on more of the record than that there is one: it may run where what is there is damaged
    /// (store.C11), and brings nothing to memory that it would have to find room for. Asked only of what lies on a tier, of which there may be no more than what stands before the
    /// value: <see cref="Plan"/> and <see cref="Write"/> look at no byte of that, though <see cref="RecordView.ValueBytes"/> says how many there were.
    /// </summary>
    bool IsBlind => false;
}
