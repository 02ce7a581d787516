namespace Tsavorite;

/// <summary>
/// A look at one record. Implemented by structs so that the store compiles one copy of its read path for each.
/// </summary>
public interface IRead
{
    /// <summary>
    /// Called with the live record, perhaps several times for one read and perhaps on bytes that are being
    /// overwritten: it may only copy into memory of its own, bounded by its own room, and must start afresh on each
    /// call. The store says afterwards whether the last look was true.
    /// </summary>
    void Look(in RecordView record);

    /// <summary>False if it looks at no byte of the value: of a record on a tier that need not be at hand.</summary>
    static virtual bool WantsValue => true;
}
