namespace Garnet.Aof.Recovery;

/// <summary>The entries of one lane of one part inside a <see cref="ReplayBlock"/>, and where the part lies, for messages.</summary>
internal readonly record struct ReplaySlice
{
    public required ushort Lane { get; init; }
    public required uint Entries { get; init; }
    public required long Offset { get; init; }
    public required int Bytes { get; init; }
    public required ulong Batch { get; init; }
    /// <summary>Operations on the whole store may stand among the entries.</summary>
    public required bool IsOrdered { get; init; }
    public required string File { get; init; }
    public required long FileOffset { get; init; }
}
