namespace Garnet.Aof.Format;

/// <summary>What a batch holds.</summary>
public enum BatchKind : byte
{
    /// <summary>Changes of single keys, by lane.</summary>
    Data = 1,
    /// <summary>One operation on the whole store.</summary>
    Control = 2,
    /// <summary>A transaction that holds operations on the whole store among changes of keys: all in one lane, run in their order.</summary>
    Ordered = 3,
}
