using Tsavorite;

namespace Garnet.Server.Types.Collections;

/// <summary>
/// Entries found by key, whatever form they are in: packed into the record, or in chunks. Hashes and sets are this; sorted sets
/// keep their scores in it.
/// M1: a collection without entries has no record.
/// M2: no key stands twice.
/// </summary>
internal static unsafe class Members
{
    /// <summary>Finds the entry of a key.</summary>
    internal static bool Find(ref RecordEdit edit, EntryForm form, byte* key, int keyBytes, out Entry entry)
    {
        if (Root.IsChunked(edit.Value))
            return ChunkedMembers.Find(ref edit, form, key, keyBytes, out entry);
        return PackedMembers.Find(edit.Value, edit.ValueBytes, form, new ReadOnlySpan<byte>(key, keyBytes), out entry);
    }

    /// <summary>Puts an entry in, in the place of one of the same key if there is one.</summary>
    internal static PutResult Put(ref RecordEdit edit, MemberShape shape, in Entry parts, in CollectionLimits limits)
    {
        long bytes = Entry.BytesOf(shape.Form, parts);
        if (bytes > Store.ValueBytesMax / 2)
        {
            edit.OutOfMemory = true;
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
            edit.Remove(); // M1
        return result;
    }

    /// <summary>Removes the entry of a key; with the last one goes the record.</summary>
    internal static bool Remove(ref RecordEdit edit, EntryForm form, byte* key, int keyBytes)
    {
        if (Root.IsChunked(edit.Value))
            return ChunkedMembers.Remove(ref edit, form, key, keyBytes);
        if (!PackedMembers.Find(edit.Value, edit.ValueBytes, form, new ReadOnlySpan<byte>(key, keyBytes), out Entry entry))
            return false;
        PackedMembers.Remove(ref edit, entry);
        return true;
    }

    /// <summary>A random entry, each about as likely.</summary>
    internal static Entry Random(ref RecordEdit edit, EntryForm form, ref RandomBits random)
    {
        if (Root.IsChunked(edit.Value))
            return ChunkedMembers.Random(ref edit, form, ref random);
        var walk = default(MemberWalk);
        int skip = (int)random.Below((ulong)Root.PackedCount(edit.Value));
        while (walk.Next(ref edit, form) && skip-- > 0)
        {
        }

        return walk.Current;
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
