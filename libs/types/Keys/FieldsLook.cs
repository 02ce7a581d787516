using Tsavorite;

namespace Garnet.Types.Keys;

/// <summary>Takes a record's fields, not its value.</summary>
public struct FieldsLook : IRead
{
    public RecordKind Kind;
    public int ValueBytes;
    public int KeyBytes;
    public long ExpireAtMs;
    public ulong ETag;
    public int Frequency;

    public static bool WantsValue => false;

    public void Look(in RecordView record)
    {
        Kind = record.Kind;
        ValueBytes = record.ValueBytes;
        KeyBytes = record.KeyBytes;
        ExpireAtMs = record.ExpireAtMs;
        ETag = record.ETag;
        Frequency = record.Frequency;
    }
}
