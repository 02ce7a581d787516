using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>
/// A list in either form: packed behind the root's header in the form of a <see cref="SequencePage"/>, or a <see cref="Sequence"/>.
/// Indexes count from 0. A list without elements has no record.
/// </summary>
public static unsafe class ListForm
{
    /// <summary>Puts an element before the one with that index, or at the end; makes the list if there is none.</summary>
    public static bool TryInsert(ref RecordEdit edit, long index, ReadOnlySpan<byte> element, in ListLimits limits)
    {
        long bytes = SequencePage.BytesOf(element.Length);
        if (bytes > Store.ElementBytesMax)
        {
            edit.RefuseSize();
            return false;
        }

        bool isNew = !edit.Exists;
        if (isNew && !TryCreate(ref edit))
            return false;
        if (!Root.IsChunked(edit.Value))
        {
            if (edit.ValueBytes + bytes <= limits.PackedBytesMax && Root.PackedCount(edit.Value) < CollectionLimits.PackedEntriesMax)
                return TryInsertPacked(ref edit, (int)index, element, (int)bytes) || Undo(ref edit, isNew);
            if (!TryUnpack(ref edit))
                return Undo(ref edit, isNew);
        }

        if (PageDirectory.IsEmpty(ref edit))
            return Sequence.TryStart(ref edit, element) || Undo(ref edit, isNew);
        SequencePlace place = Sequence.Seek(ref edit, index);
        return Sequence.TryInsert(ref edit, ref place, default, element, SequenceKind.List, out _);
    }

    /// <summary>Removes so many elements from an index on; with the last one goes the record.</summary>
    public static void Remove(ref RecordEdit edit, long index, long elements)
    {
        long count = Root.Count(edit.Value);
        if (elements >= count)
        {
            edit.Remove();
            return;
        }

        if (!Root.IsChunked(edit.Value))
        {
            RemovePacked(ref edit, (int)index, (int)elements);
            return;
        }

        for (long left = elements; left > 0;)
        {
            SequencePlace place = Sequence.Seek(ref edit, index);
            int here = (int)Math.Min(left, Sequence.Open(ref edit, place.Page.Number).Count - place.Index);
            Garnet.Common.Faults.Check.That(Sequence.TryRemove(ref edit, place, here, SequenceKind.List), "store.E4 a page can be moved");
            left -= here;
        }
    }

    /// <summary>True once the list passes what counts as small.</summary>
    public static bool IsLarge(ref RecordEdit edit, in ListLimits limits) =>
        Root.Count(edit.Value) > limits.EntriesMax || BytesOf(ref edit) > limits.BytesMax;

    private static long BytesOf(ref RecordEdit edit) => Root.IsChunked(edit.Value) ? Root.EntryBytes(edit.Value) : edit.ValueBytes;

    private static bool Undo(ref RecordEdit edit, bool isNew)
    {
        if (isNew)
            edit.Remove();
        return false;
    }

    private static bool TryCreate(ref RecordEdit edit)
    {
        byte* value = edit.Create(RecordKind.List, Root.PackedBytes);
        if (value == null)
            return false;
        *value = 0;
        Root.SetPackedCount(value, 0);
        edit.Close();
        return true;
    }

    private static bool TryInsertPacked(ref RecordEdit edit, int index, ReadOnlySpan<byte> element, int bytes)
    {
        int offset = (int)(PlaceOf(ref edit, index) - edit.Value), tail = edit.ValueBytes - offset;
        byte* value = edit.Write(edit.ValueBytes + bytes);
        if (value == null)
            return false;
        Buffer.MemoryCopy(value + offset, value + offset + bytes, tail, tail);
        SequencePage.Write(value + offset, default, element);
        Root.SetPackedCount(value, Root.PackedCount(value) + 1);
        edit.Close();
        return true;
    }

    private static void RemovePacked(ref RecordEdit edit, int index, int elements)
    {
        byte* from = PlaceOf(ref edit, index), to = from;
        for (int i = 0; i < elements; i++)
            to = SequencePage.Read(to, out _, out _);
        int offset = (int)(from - edit.Value), bytes = (int)(to - from), tail = edit.ValueBytes - offset - bytes;
        int total = edit.ValueBytes - bytes;
        byte* value = edit.Write(edit.ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(value != null, "store.E4 a small record can be moved");
        Buffer.MemoryCopy(value + offset + bytes, value + offset, tail, tail);
        Root.SetPackedCount(value, Root.PackedCount(value) - elements);
        edit.Close(total);
    }

    private static byte* PlaceOf(ref RecordEdit edit, int index)
    {
        byte* at = edit.Value + Root.PackedBytes;
        if (index == Root.PackedCount(edit.Value))
            return edit.Value + edit.ValueBytes;
        for (int i = 0; i < index; i++)
            at = SequencePage.Read(at, out _, out _);
        return at;
    }

    private static bool TryUnpack(ref RecordEdit edit)
    {
        int count = Root.PackedCount(edit.Value), bytes = edit.ValueBytes - Root.PackedBytes;
        var flags = (byte)(Root.Flags(edit.Value) | RootFlags.Chunked);
        edit.TakeOwner();
        if (count > 0 && !Sequence.TryBegin(ref edit, edit.Value + Root.PackedBytes, edit.Value + edit.ValueBytes, count))
        {
            edit.DropOwner();
            return false;
        }

        byte* value = edit.Write(PageDirectory.FirstRootBytes, force: true);
        if (value == null)
        {
            edit.RemoveChunk(RootLimit.SecondSet);
            edit.DropOwner();
            return false;
        }

        new Span<byte>(value, PageDirectory.FirstRootBytes).Clear();
        *value = flags;
        PageDirectory.Begin(value, count > 0 ? 1 : 0, count);
        Root.SetChunkedCount(value, count);
        Root.SetEntryBytes(value, bytes);
        edit.Close();
        return true;
    }
}
