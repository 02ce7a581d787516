namespace Garnet.Types.Collections;

/// <summary>What a sequence is part of.</summary>
public enum SequenceKind : byte
{
    /// <summary>A list: its elements are what the root counts.</summary>
    List,
    /// <summary>The order of a sorted set, whose members are counted elsewhere. Smaller pages: they are searched.</summary>
    Sorted,
}
