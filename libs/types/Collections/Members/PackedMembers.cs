using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>Entries packed into the record's value, one behind the other, searched from the front.</summary>
public static unsafe class PackedMembers
{
    /// <summary>
    /// Finds a key, behind which lie 16 readable bytes. Also for readers without the lock: bytes that are being overwritten lead nowhere
    /// but to a wrong answer, which the store discards.
    /// </summary>
    public static bool Find(byte* value, int valueBytes, EntryForm form, byte* key, int keyBytes, out Entry entry)
    {
        byte* at = value + Root.PackedBytes, end = value + valueBytes;
        for (int left = valueBytes < Root.PackedBytes ? 0 : Root.PackedCount(value); left > 0; left--)
        {
            byte* next = Entry.Measure(form, at, end, out byte* found, out uint foundBytes, out _);
            if (next == null)
                break;
            if (foundBytes == (uint)keyBytes && RecordEdit.SameBytes(found, key, keyBytes))
                return Entry.TryRead(form, at, end, out entry);
            at = next;
        }

        entry = default;
        return false;
    }

    /// <summary>Puts an entry in; null if the packed form would become too large.</summary>
    public static PutResult? TryPut(ref RecordEdit edit, EntryForm form, in Entry parts, in CollectionLimits limits)
    {
        int newBytes = (int)Entry.BytesOf(form, parts);
        bool exists = Find(edit.Value, edit.ValueBytes, form, parts.Key, parts.KeyBytes, out Entry old);
        int count = Root.PackedCount(edit.Value) + (exists ? 0 : 1), valueBytes = edit.ValueBytes;
        long total = (long)valueBytes - old.Bytes + newBytes;
        if (total > limits.PackedBytesMax || count > CollectionLimits.PackedEntriesMax)
            return null;
        int offset = exists ? (int)(old.Start - edit.Value) : valueBytes, tail = valueBytes - offset - old.Bytes;
        // A shorter entry: the bytes behind it move first, then the record is cut.
        byte* value = edit.Write(Math.Max((int)total, valueBytes));
        if (value == null)
            return PutResult.Failed;
        if (newBytes != old.Bytes)
            Buffer.MemoryCopy(value + offset + old.Bytes, value + offset + newBytes, tail, tail);
        Entry.Write(form, value + offset, parts);
        Root.SetPackedCount(value, count);
        if (limits.Exceeds(parts, count))
            *value |= (byte)RootFlags.Converted;
        edit.Close((int)total);
        return exists ? PutResult.Replaced : PutResult.Added;
    }

    /// <summary>Removes an entry; with the last one goes the record.</summary>
    public static void Remove(ref RecordEdit edit, in Entry entry)
    {
        int count = Root.PackedCount(edit.Value), valueBytes = edit.ValueBytes;
        if (count == 1)
        {
            edit.Remove();
            return;
        }

        int offset = (int)(entry.Start - edit.Value), tail = valueBytes - offset - entry.Bytes, bytes = entry.Bytes;
        byte* value = edit.Write(valueBytes, force: true);
        Garnet.Common.Faults.Check.That(value != null, "store.E4 a small record can be moved");
        Buffer.MemoryCopy(value + offset + bytes, value + offset, tail, tail);
        Root.SetPackedCount(value, count - 1);
        edit.Close(valueBytes - bytes);
    }
}
