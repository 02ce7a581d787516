using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>Sets or takes away the expiry of entries that are there (HEXPIRE, HPERSIST, ZEXPIRE, ZPERSIST). What is to be changed was decided before, under the same lock.</summary>
public unsafe struct RetimeEntries : IEdit
{
    private const int SlackBytes = 32;

    public Operands Keys;
    /// <summary>Unix milliseconds, 0 for never.</summary>
    public long ExpireAtMs;
    /// <summary>Entries changed.</summary>
    public int Changed;

    public static byte OpId => 27;

    public readonly long EncodedBytesMax => 8 + Keys.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        if (!edit.Exists || edit.Kind is not (RecordKind.Hash or RecordKind.SortedSet))
            return false;
        EntryForm form = edit.Kind == RecordKind.Hash ? EntryForm.Pair : EntryForm.Scored;
        int done = 0;
        MembersAhead.Look(ref edit, Keys);
        for (Operands.Reader reader = Keys.Read(); reader.Next(); done++)
        {
            edit.CleanBehind();
            if (!Members.Find(ref edit, form, reader.Bytes, reader.Length, out Entry entry) || entry.ExpireAtMs == ExpireAtMs)
                continue;
            if (!TryPut(ref edit, entry))
                break;
            Changed++;
        }

        Keys.Truncate(done);
        if (Changed > 0 && ExpireAtMs != 0)
            Root.Raise(ref edit, RootFlags.Expiring);
        return Changed > 0;
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, ExpireAtMs);
        return 8 + Keys.Encode(to[8..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 8)
            return false;
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from);
        return ExpireAtMs >= 0 && Operands.TryDecode(from[8..], out Keys) && Keys.Count > 0;
    }

    // From a copy: the entry lies in what is about to change.
    private readonly bool TryPut(ref RecordEdit edit, in Entry found)
    {
        Entry entry = found;
        using var memory = new NativeArray<byte>((long)entry.KeyBytes + entry.ValueBytes + (2 * SlackBytes));
        byte* copy = memory.Items;
        entry.KeySpan.CopyTo(new Span<byte>(copy, entry.KeyBytes));
        byte* value = copy + entry.KeyBytes + SlackBytes;
        entry.ValueSpan.CopyTo(new Span<byte>(value, entry.ValueBytes));
        entry.Key = copy;
        entry.Value = value;
        entry.ExpireAtMs = ExpireAtMs;
        PutResult result = edit.Kind == RecordKind.Hash
            ? Members.Put(ref edit, MemberShape.Hash, entry, CollectionLimits.Replay)
            : SortedForm.Put(ref edit, entry, found, CollectionLimits.Replay);
        return result != PutResult.Failed;
    }
}
