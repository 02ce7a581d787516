namespace Garnet.Server.Families.Bulk;

/// <summary>Whether a value was written into the reply, or why not.</summary>
internal enum InlineResult
{
    /// <summary>It was.</summary>
    Written,

    /// <summary>There is no such key.</summary>
    Missing,

    /// <summary>It holds no string.</summary>
    OtherKind,

    /// <summary>The value has not the version that is wanted.</summary>
    OtherVersion,
}
