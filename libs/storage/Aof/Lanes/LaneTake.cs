namespace Garnet.Aof.Lanes;

/// <summary>The entries of one lane in one closed batch. Whoever holds it gives the chunks back.</summary>
internal unsafe struct LaneTake
{
    public ushort Lane;
    public uint Entries;
    public long Bytes;
    public Chunk* Head;
}
