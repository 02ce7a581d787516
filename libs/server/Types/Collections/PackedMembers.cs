using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Server.Types.Collections;

/// <summary>Entries packed into the record's value, one behind the other, searched from the front.</summary>
internal static unsafe class PackedMembers
{
    /// <summary>
    /// Finds a key. Also for readers without the lock: bytes that are being overwritten lead nowhere but to a wrong answer, which
    /// the store discards.
    /// </summary>
    internal static bool Find(byte* value, int valueBytes, EntryForm form, ReadOnlySpan<byte> key, out Entry entry)
    {
        byte* at = value + Root.PackedBytes, end = value + valueBytes;
        if (valueBytes >= Root.PackedBytes)
        {
            ulong last = LastOf(key);
            fixed (byte* bytes = key)
            {
                for (int left = Root.PackedCount(value); left > 0; left--)
                {
                    at = Pass(form, at, end, key.Length, last, ref left);
                    if (left == 0 || !Entry.TryRead(form, at, end, out entry))
                        break;
                    if (entry.Is(bytes, key.Length))
                        return true;
                    at += entry.Bytes;
                }
            }
        }

        entry = default;
        return false;
    }

    // Goes on to the next entry that may be the key: most have another length or other last bytes. Where a length takes more than a
    // byte it stops too. It may read some bytes behind the end, which are mapped memory. Halves a search among 100 (CollectionCost).
    private static byte* Pass(EntryForm form, byte* at, byte* end, int keyBytes, ulong last, ref int left)
    {
        int head = form == EntryForm.Pair ? 2 : 1, score = form == EntryForm.Scored ? (int)Entry.ScoreBytes : 0;
        for (; left > 0 && end - at > head; left--)
        {
            int bytes = *at, rest = score;
            if (form == EntryForm.Pair)
                rest = at[1] >= 0x80 ? 0x80 : (at[1] >> 1) + ((at[1] & 1) * (int)Entry.ExpiryBytes);
            byte* key = at + head;
            if ((bytes | rest) >= 0x80 || (bytes == keyBytes && LastOf(key, bytes) == last))
                break;
            at = key + bytes + rest;
        }

        return at;
    }

    // The last eight bytes of a key, or all there are, in the topmost bytes.
    private static ulong LastOf(byte* key, int bytes) => bytes switch
    {
        >= 8 => Unsafe.ReadUnaligned<ulong>(key + bytes - 8),
        0 => 0,
        _ => Unsafe.ReadUnaligned<ulong>(key) << (64 - (bytes * 8)),
    };

    // The same where nothing may be read behind the key.
    private static ulong LastOf(ReadOnlySpan<byte> key)
    {
        ulong last = 0;
        foreach (byte next in key[Math.Max(key.Length - 8, 0)..])
            last = (last >> 8) | ((ulong)next << 56);
        return last;
    }

    /// <summary>Puts an entry in; null if the packed form would become too large.</summary>
    internal static PutResult? TryPut(ref RecordEdit edit, EntryForm form, in Entry parts, in CollectionLimits limits)
    {
        int newBytes = (int)Entry.BytesOf(form, parts);
        bool exists = Find(edit.Value, edit.ValueBytes, form, parts.KeySpan, out Entry old);
        int count = Root.PackedCount(edit.Value) + (exists ? 0 : 1), valueBytes = edit.ValueBytes;
        long total = (long)valueBytes - old.Bytes + newBytes;
        if (total > limits.PackedBytesMax || count > CollectionLimits.PackedEntriesMax)
            return null;
        int offset = exists ? (int)(old.Start - edit.Value) : valueBytes, tail = valueBytes - offset - old.Bytes;
        // A shorter entry: the bytes behind it move first, then the record is cut.
        byte* value = edit.Write(Math.Max((int)total, valueBytes));
        if (value == null)
            return PutResult.Failed;
        Buffer.MemoryCopy(value + offset + old.Bytes, value + offset + newBytes, tail, tail);
        Entry.Write(form, value + offset, parts);
        Root.SetPackedCount(value, count);
        if (limits.Exceeds(parts, count))
            *value |= (byte)RootFlags.Converted;
        edit.Close();
        if (total < valueBytes)
            Cut(ref edit, (int)total);
        return exists ? PutResult.Replaced : PutResult.Added;
    }

    /// <summary>Removes an entry; with the last one goes the record.</summary>
    internal static void Remove(ref RecordEdit edit, in Entry entry)
    {
        int count = Root.PackedCount(edit.Value), valueBytes = edit.ValueBytes;
        if (count == 1)
        {
            edit.Remove();
            return;
        }

        int offset = (int)(entry.Start - edit.Value), tail = valueBytes - offset - entry.Bytes, bytes = entry.Bytes;
        byte* value = edit.Write(valueBytes, force: true);
        Garnet.Common.Faults.Check.That(value != null, "E4 a small record can be moved");
        Buffer.MemoryCopy(value + offset + bytes, value + offset, tail, tail);
        Root.SetPackedCount(value, count - 1);
        edit.Close();
        Cut(ref edit, valueBytes - bytes);
    }

    /// <summary>Gives back what lies behind so many bytes of the value.</summary>
    internal static void Cut(ref RecordEdit edit, int valueBytes)
    {
        byte* value = edit.Write(valueBytes, force: true);
        Garnet.Common.Faults.Check.That(value != null, "E4 a small record can be moved");
        edit.Close();
    }
}
