namespace Garnet.Types.Hashes;

/// <summary>What is asked of a single field.</summary>
public enum FieldQuestion : byte
{
    Value,
    Length,
    Presence,
}
