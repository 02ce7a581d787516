using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Hashes;

/// <summary>Sets or takes away the expiry of fields that are there (HEXPIRE, HPERSIST). What is to be changed was decided before, under the same lock.</summary>
internal unsafe struct RetimeFields : IEdit
{
    private const int SlackBytes = 32;

    internal Operands Fields;
    /// <summary>Unix milliseconds, 0 for never.</summary>
    internal long ExpireAtMs;
    /// <summary>Fields changed.</summary>
    internal int Changed;

    public static byte OpId => 27;

    public readonly int EncodedBytesMax => 8 + Fields.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        if (!edit.Exists || edit.Kind != RecordKind.Hash)
            return false;
        int done = 0;
        for (Operands.Reader reader = Fields.Read(); reader.Next(); done++)
        {
            if (!Members.Find(ref edit, EntryForm.Pair, reader.Bytes, reader.Length, out Entry entry) || entry.ExpireAtMs == ExpireAtMs)
                continue;
            if (!TryPut(ref edit, entry))
                break;
            Changed++;
        }

        Fields.Truncate(done);
        if (Changed > 0 && ExpireAtMs != 0)
            Root.Raise(ref edit, RootFlags.Expiring);
        return Changed > 0;
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, ExpireAtMs);
        return 8 + Fields.Encode(to[8..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 8)
            return false;
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from);
        return Operands.TryDecode(from[8..], out Fields) && Fields.Count > 0;
    }

    // From a copy: the entry lies in what is about to change.
    private readonly bool TryPut(ref RecordEdit edit, Entry entry)
    {
        byte* copy = (byte*)NativeMemory.Alloc((nuint)entry.KeyBytes + (nuint)entry.ValueBytes + (2 * SlackBytes));
        entry.KeySpan.CopyTo(new Span<byte>(copy, entry.KeyBytes));
        byte* value = copy + entry.KeyBytes + SlackBytes;
        entry.ValueSpan.CopyTo(new Span<byte>(value, entry.ValueBytes));
        entry.Key = copy;
        entry.Value = value;
        entry.ExpireAtMs = ExpireAtMs;
        PutResult result = Members.Put(ref edit, MemberShape.Hash, entry, CollectionLimits.Replay);
        NativeMemory.Free(copy);
        return result != PutResult.Failed;
    }
}
