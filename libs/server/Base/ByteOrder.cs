namespace Garnet.Server.Base;

/// <summary>Byte strings in the order of their bytes.</summary>
internal sealed class ByteOrder : IComparer<byte[]>
{
    internal static readonly ByteOrder Comparer = new();

    public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
}
