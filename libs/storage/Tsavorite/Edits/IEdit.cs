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
}
