using Garnet.Aof.Format;

namespace Garnet.Aof.Reading;

/// <summary>
/// A whole part of a batch, where it lies, and its body (lane table and entries) in memory that the next read takes away.
/// </summary>
internal unsafe struct LogPart
{
    public string File;
    public int FileIndex;
    public long Offset, End;
    public BatchHeader Header;
    public uint HeaderCrc;
    public byte* Body;
    public FileHeader Layout;

    public readonly LaneRow Row(int number) => LaneRow.Read(new ReadOnlySpan<byte>(Body + number * LaneRow.Bytes, LaneRow.Bytes));
}
