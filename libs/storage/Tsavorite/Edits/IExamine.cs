namespace Tsavorite;

/// <summary>A look at a key's record and its chunks under the partition's lock; it must not wait. Implemented by structs.</summary>
public interface IExamine
{
    /// <summary>Called once, with the live record.</summary>
    void Look(ref RecordEdit record);
}
