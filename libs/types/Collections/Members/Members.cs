using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Entries found by key, whatever form they are in: packed into the record, or in chunks. Hashes and sets are this; sorted sets
/// keep their scores in it.
/// collections.M1: a collection without entries has no record.
/// collections.M2: no key stands twice.
/// </summary>
public static unsafe class Members
{
    private const int EntryBytesSlack = 1024;

    /// <summary>Finds the entry of a key.</summary>
    public static bool Find(ref RecordEdit edit, EntryForm form, byte* key, int keyBytes, out Entry entry)
    {
        if (Root.IsChunked(edit.Value))
            return ChunkedMembers.Find(ref edit, form, key, keyBytes, out entry);
        if (Root.Has(edit.Value, RootFlags.Integers))
        {
            entry = new Entry { Start = key, Key = key, KeyBytes = keyBytes };
            return IntegerSet.TryParse(key, keyBytes, out long member) && IntegerSet.Find(edit.Value, member, out _);
        }

        return PackedMembers.Find(edit.Value, edit.ValueBytes, form, key, keyBytes, out entry);
    }

    /// <summary>Puts an entry in, in the place of one of the same key if there is one.</summary>
    public static PutResult Put(ref RecordEdit edit, MemberShape shape, in Entry parts, in CollectionLimits limits)
    {
        long bytes = Entry.BytesOf(shape.Form, parts);
        if (bytes > Store.ElementBytesMax)
        {
            edit.RefuseSize();
            return PutResult.Failed;
        }

        if (edit.Exists)
            return PutInto(ref edit, shape, parts, limits);
        bool packed = Root.PackedBytes + bytes <= limits.PackedBytesMax;
        byte* value = edit.Create(shape.Kind, Root.PackedBytes + (packed ? (int)bytes : 0));
        if (value == null)
            return PutResult.Failed;
        *value = (byte)(limits.Exceeds(parts, 1) ? RootFlags.Converted : RootFlags.None);
        Root.SetPackedCount(value, packed ? 1 : 0);
        if (packed)
            Entry.Write(shape.Form, value + Root.PackedBytes, parts);
        edit.Close();
        if (packed)
            return PutResult.Added;
        PutResult result = PutInto(ref edit, shape, parts, limits);
        if (result == PutResult.Failed)
            edit.Remove(); // collections.M1
        return result;
    }

    /// <summary>Removes the entry of a key; with the last one goes the record.</summary>
    public static bool Remove(ref RecordEdit edit, EntryForm form, byte* key, int keyBytes)
    {
        if (Root.IsChunked(edit.Value))
            return ChunkedMembers.Remove(ref edit, form, key, keyBytes);
        if (Root.Has(edit.Value, RootFlags.Integers))
            return IntegerSet.TryParse(key, keyBytes, out long member) && IntegerSet.Remove(ref edit, member);
        if (!PackedMembers.Find(edit.Value, edit.ValueBytes, form, key, keyBytes, out Entry entry))
            return false;
        PackedMembers.Remove(ref edit, entry);
        return true;
    }

    /// <summary>Puts in what can be the whole packed collection at once; false if that cannot be: nothing has changed then.</summary>
    public static bool TryCreatePacked(ref RecordEdit edit, MemberShape shape, in Operands operands, in CollectionLimits limits)
    {
        int step = shape.Form == EntryForm.Pair ? 2 : 1, count = operands.Count / step;
        return !edit.Exists && count is >= 2 and <= CollectionLimits.PackedEntriesMax
            && operands.EncodedBytes() <= limits.PackedBytesMax / 2
            && TryPack(ref edit, shape, operands, limits, step);
    }

    /// <summary>Puts in what would not fit packed and can be the whole collection at once, in chunks; false if that cannot be: nothing has changed then.</summary>
    public static bool TryCreateLarge(
        ref RecordEdit edit, MemberShape shape, in Operands operands, in CollectionLimits limits, in FillTerms terms, out int added)
    {
        added = 0;
        if (edit.Exists || MemberFill.CountOf(operands, shape, terms) < 2 || operands.EncodedBytes() <= limits.PackedBytesMax
            || !MemberFill.TryCreate(ref edit, shape, operands, limits, terms, out FillCounts counts))
            return false;
        added = counts.Added;
        return true;
    }

    // A method of its own: what it has on the stack is cleared whenever it is entered.
    private static bool TryPack(ref RecordEdit edit, MemberShape shape, in Operands operands, in CollectionLimits limits, int step)
    {
        int count = operands.Count / step;
        byte* entries = stackalloc byte[(int)limits.PackedBytesMax + EntryBytesSlack];
        *entries = 0;
        Root.SetPackedCount(entries, 0);
        byte* end = entries + Root.PackedBytes;
        bool exceeds = false;
        for (Operands.Reader reader = operands.Read(); reader.Next();)
        {
            var parts = new Entry { Key = reader.Bytes, KeyBytes = reader.Length };
            if (PackedMembers.Find(entries, (int)(end - entries), shape.Form, parts.Key, parts.KeyBytes, out _))
                return false; // collections.M2: a key twice goes one by one
            if (step == 2 && reader.Next())
            {
                parts.Value = reader.Bytes;
                parts.ValueBytes = reader.Length;
            }

            exceeds |= limits.Exceeds(parts, count);
            end = Entry.Write(shape.Form, end, parts);
            Root.SetPackedCount(entries, Root.PackedCount(entries) + 1);
        }

        *entries = (byte)(exceeds ? RootFlags.Converted : RootFlags.None);
        byte* value = edit.Create(shape.Kind, (int)(end - entries));
        if (value == null)
        {
            edit.OutOfMemory = false;
            return false;
        }

        Buffer.MemoryCopy(entries, value, end - entries, end - entries);
        edit.Close();
        return true;
    }

    /// <summary>Entries whose time has not come.</summary>
    public static long CountLive(ref RecordEdit record, EntryForm form)
    {
        if (!Root.Has(record.Value, RootFlags.Expiring))
            return Root.Count(record.Value);
        if (form == EntryForm.Scored)
            return Root.Count(record.Value) - HiddenRanks.Of(ref record).Count;
        long count = 0;
        var walk = default(MemberWalk);
        while (walk.Next(ref record, form))
            count += walk.Current.IsDue(record.NowMs) ? 0 : 1;
        return count;
    }

    /// <summary>A random entry, each about as likely; <paramref name="random"/> does not move while it is looked at.</summary>
    public static Entry Random(ref RecordEdit edit, EntryForm form, ref RandomBits random)
    {
        if (Root.IsChunked(edit.Value))
            return ChunkedMembers.Random(ref edit, form, ref random);
        if (Root.Has(edit.Value, RootFlags.Integers))
        {
            byte* digits = (byte*)Unsafe.AsPointer(ref random.Digits[0]);
            long member = IntegerSet.At(edit.Value, (int)random.Below((ulong)IntegerSet.Count(edit.Value)));
            return new Entry { Start = digits, Key = digits, KeyBytes = (int)(NumberText.Write(digits, member) - digits) };
        }

        var walk = default(MemberWalk);
        walk.Skip(ref edit, form, (int)random.Below((ulong)Root.Count(edit.Value)));
        walk.Next(ref edit, form);
        return walk.Current;
    }

    /// <summary>Has what so many random entries are drawn from fetched side by side, if it lies on a tier; the draws have to come next.</summary>
    public static void LookAtRandom(ref RecordEdit edit, in RandomBits random, long draws)
    {
        if (draws > 1 && MembersAhead.MayLack(ref edit))
            ChunkedMembers.ForeseeRandom(ref edit, random, draws);
    }

    private static PutResult PutInto(ref RecordEdit edit, MemberShape shape, in Entry parts, in CollectionLimits limits)
    {
        if (!Root.IsChunked(edit.Value))
        {
            PutResult? result = PackedMembers.TryPut(ref edit, shape.Form, parts, limits);
            if (result is { } done)
                return done;
            if (!ChunkedMembers.Unpack(ref edit, shape.Form, Entry.BytesOf(shape.Form, parts)))
                return PutResult.Failed;
        }

        return ChunkedMembers.Put(ref edit, shape.Form, parts, limits);
    }
}
