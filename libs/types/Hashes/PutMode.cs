namespace Garnet.Types.Hashes;

/// <summary>When and what a <see cref="HashPut"/> puts.</summary>
public enum PutMode : byte
{
    Always,
    /// <summary>Only if the field is not there (one pair).</summary>
    IfAbsent,
    /// <summary>Only if the field still holds what was read, or is still not there (one pair).</summary>
    IfUnchanged,
    /// <summary>Adds to the integer in the field; the value of the pair is where the sum goes (one pair).</summary>
    Add,
}
