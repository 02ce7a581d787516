namespace Tsavorite.Test.Tiers;

/// <summary>Changes the last byte of a root or of one of its chunks where it lies; makes a root with that many bytes where there is none.</summary>
internal unsafe struct FlipEdit : IEdit
{
    public const int NoChunk = -1;

    public int Chunk;
    public int RootBytes;

    public static byte OpId => 211;
    public readonly long EncodedBytesMax => 0;

    public readonly bool Run(ref RecordEdit edit)
    {
        if (!edit.Exists)
        {
            new Span<byte>(edit.Create(RecordKind.Hash, RootBytes), RootBytes).Clear();
            edit.Close();
            edit.TakeOwner();
            edit.Write(RootBytes);
            edit.Close();
            return true;
        }
        int bytes = edit.ValueBytes;
        byte* value = Chunk == NoChunk ? edit.Write(bytes) : edit.OpenChunk((uint)Chunk, out bytes);
        value[bytes - 1] ^= 1;
        if (Chunk == NoChunk)
            edit.Close();
        return true;
    }

    public readonly int Encode(Span<byte> to) => 0;

    public readonly bool TryDecode(ReadOnlySpan<byte> from) => false;
}
