namespace Garnet.Types.Streams;

/// <summary>What becomes of the number of deliveries of an entry that is released.</summary>
public enum ReleaseMode : byte
{
    /// <summary>The last one did not count.</summary>
    Silent,
    Fail,
    /// <summary>As many as there can be: whoever looks at the number gives the entry up.</summary>
    Fatal,
}
