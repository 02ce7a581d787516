namespace Tsavorite;

/// <summary>
/// One deterministic change of a key's record and of the chunks that belong to it, in one step under the partition's
/// lock and with one entry in the log. For values that are too large to be written anew with every change. Implemented by
/// structs; runs under the lock and must not wait, allocate or throw.
/// </summary>
public interface IEdit : ILogged
{
    /// <summary>
    /// Looks and changes; true if anything has changed, which is then logged as the operation encodes itself. Where memory ran
    /// out midway, the operation encodes what it has done.
    /// </summary>
    bool Run(ref RecordEdit edit);

    /// <summary>
    /// True if the change is taken back where memory runs out midway and parts of the value lie on a tier: they come back to memory while it is under way, which nobody could know before.
    /// Its asker is told that nothing was changed. Not so one that says what it has done by then, or has given it away.
    /// </summary>
    static virtual bool IsAllOrNothing => false;
}
