namespace Garnet.Aof.Format;

/// <summary>What a batch holds.</summary>
public enum BatchKind : byte
{
    /// <summary>Changes of single keys, by lane.</summary>
    Data = 1,
    /// <summary>One operation on the whole store.</summary>
    Control = 2,
}
