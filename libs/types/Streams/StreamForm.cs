using Garnet.Common.Faults;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// A stream in the store: a root that begins with <see cref="StreamHeader"/> and goes on with a directory of its pages in order, and a
/// chunk for each page (<see cref="StreamPage"/>, the first set of numbers). Behind and before the slots in use stand numbers that were
/// in use once: they are taken again first, so that numbers stay few. What groups know lies in the second set (<see cref="StreamGroups"/>).
/// Unlike other collections, a stream without entries is one, and there is no form without chunks.
/// streams.S1: a page in use has an entry that is there.
/// streams.S2: what is there in all pages sums to the root's length.
/// </summary>
public static unsafe class StreamForm
{
    // A full page with more room than this part of what it holds is cut; a new one gets a quarter of that beyond what the one before
    // came to, so that most are neither cut nor grow.
    private const int SparePart = 8;

    public static StreamHeader* Header(ref RecordEdit edit) => (StreamHeader*)edit.Value;

    public static StreamSlot* Slot(byte* root, int page) =>
        (StreamSlot*)(root + StreamHeader.Bytes + ((((StreamHeader*)root)->Skipped + page) * (long)StreamSlot.Bytes));

    /// <summary>Opens the root to be changed; no other call before <see cref="RecordEdit.Close()"/> (store.E1).</summary>
    public static StreamHeader* Open(ref RecordEdit edit) => Open(ref edit, edit.ValueBytes);

    private static StreamHeader* Open(ref RecordEdit edit, int bytes)
    {
        byte* root = edit.Write(bytes, force: true);
        Check.That(root != null, "store.E4 a root can be moved");
        return (StreamHeader*)root;
    }

    /// <summary>Makes a stream without entries where there is nothing.</summary>
    public static bool TryCreate(ref RecordEdit edit)
    {
        byte* root = edit.Create(RecordKind.Stream, StreamHeader.Bytes);
        if (root == null)
            return false;
        new Span<byte>(root, StreamHeader.Bytes).Clear();
        *root = (byte)RootFlags.Chunked;
        edit.Close();
        edit.TakeOwner();
        if (edit.Write(StreamHeader.Bytes) == null)
        {
            edit.DropOwner();
            edit.Remove();
            return false;
        }

        edit.Close();
        return true;
    }

    /// <summary>Puts an entry at the end of a stream that is there; its id is greater than all before.</summary>
    public static bool TryAppend(ref RecordEdit edit, StreamId id, in Operands fields, in StreamLimits limits)
    {
        if (StreamPage.FirstBytesMax(fields) > Store.ValueBytesMax)
        {
            edit.RefuseSize();
            return false;
        }

        int last = Header(ref edit)->Pages - 1;
        StreamPage page = default;
        bool sameNames = last < 0 || PageAt(ref edit, last).HasNamesOf(fields);
        if (last < 0 || !TryOpenLast(ref edit, last, (int)StreamPage.BytesMax(fields, !sameNames), limits, out page))
        {
            if (edit.OutOfMemory || !TryAddPage(ref edit, id, fields, limits, out page))
                return false;
            sameNames = true;
        }

        page.Append(id, fields, sameNames);
        StreamHeader* root = Open(ref edit);
        root->Last = id;
        root->Added++;
        if (root->Length++ == 0)
            root->First = id;
        edit.Close();
        return true;
    }

    /// <summary>A page to look at.</summary>
    public static StreamPage PageAt(ref RecordEdit edit, int page)
    {
        byte* at = edit.Chunk(Slot(edit.Value, page)->Number, out int bytes);
        Check.That(at != null, "streams.S1 every page of the directory is there");
        return new StreamPage(at, bytes);
    }

    /// <summary>A step will come to the page that has the id. False if no more may be told of now.</summary>
    public static bool TryForesee(ref RecordEdit edit, StreamId id)
    {
        int page = Find(edit.Value, id);
        return page < 0 || edit.TryForesee(Slot(edit.Value, page)->Number);
    }

    /// <summary>Looks at the pages of the first so many entries, and at what becomes the first page then: before the first entry is removed.</summary>
    public static void LookAtFirst(ref RecordEdit edit, long entries)
    {
        int pages = edit.MayLack ? Header(ref edit)->Pages : 0;
        for (int page = 0; page < pages && entries >= 0; page++)
            entries -= PageAt(ref edit, page).Live;
    }

    /// <summary>A walk comes to the page now, and then to those before it.</summary>
    public static void LookBackwards(ref RecordEdit edit, int page)
    {
        if (edit.MayLack)
            edit.LookAhead(&Slot(edit.Value, page)->Number, -(StreamSlot.Bytes / sizeof(uint)), page + 1);
    }

    /// <summary>The last page whose first id is not greater; -1 if there is none.</summary>
    public static int Find(byte* root, StreamId id)
    {
        int low = 0, high = ((StreamHeader*)root)->Pages;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (Slot(root, middle)->First <= id)
                low = middle + 1;
            else
                high = middle;
        }

        return low - 1;
    }

    /// <summary>Looks for an entry; false if it is not there.</summary>
    public static bool TryFind(ref RecordEdit edit, StreamId id, out StreamPage page, out StreamEntry entry)
    {
        int number = Find(edit.Value, id);
        page = default;
        entry = default;
        if (number < 0)
            return false;
        page = PageAt(ref edit, number);
        entry = page.Before(Slot(edit.Value, number)->First);
        while (page.Step(ref entry) && entry.Id < id)
        {
        }

        return entry.Id == id && entry.Head != null && StreamPage.IsLive(entry);
    }

    /// <summary>Deletes an entry; false if it is not there.</summary>
    public static bool TryDelete(ref RecordEdit edit, StreamId id)
    {
        if (!TryFind(ref edit, id, out StreamPage page, out StreamEntry entry))
            return false;
        DeleteFrom(ref edit, Find(edit.Value, id), page, entry);
        StreamHeader* root = Open(ref edit);
        bool wasFirst = root->First == id;
        root->Length--;
        if (id > root->MaxDeleted)
            root->MaxDeleted = id;
        edit.Close();
        if (wasFirst)
            FindFirst(ref edit);
        return true;
    }

    /// <summary>Removes so many entries from the front.</summary>
    public static void Trim(ref RecordEdit edit, long entries)
    {
        long left = Math.Min(entries, Header(ref edit)->Length), removed = left;
        while (left > 0)
        {
            StreamPage page = PageAt(ref edit, 0);
            int live = page.Live;
            if (live <= left)
            {
                RemovePage(ref edit, 0);
                left -= live;
                continue;
            }

            Check.That((page = OpenPage(ref edit, 0)).At != null, "store.E4 a page can be moved");
            StreamEntry entry = page.Before(Slot(edit.Value, 0)->First);
            while (left > 0 && page.Step(ref entry))
            {
                if (!StreamPage.IsLive(entry))
                    continue;
                page.Delete((int)(entry.Head - page.At));
                left--;
            }
        }

        StreamHeader* root = Open(ref edit);
        root->Length -= removed;
        edit.Close();
        FindFirst(ref edit);
    }

    private static void DeleteFrom(ref RecordEdit edit, int number, StreamPage page, in StreamEntry entry)
    {
        if (page.Live == 1)
        {
            RemovePage(ref edit, number);
            return;
        }

        int offset = (int)(entry.Head - page.At);
        page = OpenPage(ref edit, number);
        Check.That(page.At != null, "store.E4 a page can be moved");
        page.Delete(offset);
    }

    // The root's first id is the first entry's that is there.
    private static void FindFirst(ref RecordEdit edit)
    {
        StreamId first = StreamId.Min;
        if (Header(ref edit)->Pages > 0)
        {
            StreamPage page = PageAt(ref edit, 0);
            StreamEntry entry = page.Before(Slot(edit.Value, 0)->First);
            while (page.Step(ref entry) && !StreamPage.IsLive(entry))
            {
            }

            first = entry.Id;
        }

        Open(ref edit)->First = first;
        edit.Close();
    }

    private static StreamPage OpenPage(ref RecordEdit edit, int page)
    {
        byte* at = edit.OpenChunk(Slot(edit.Value, page)->Number, out int bytes);
        return new StreamPage(at, bytes);
    }

    // The last page with room for one more entry; a full one is cut to what it holds.
    private static bool TryOpenLast(ref RecordEdit edit, int last, int bytes, in StreamLimits limits, out StreamPage page)
    {
        page = PageAt(ref edit, last);
        if (page.Slots >= limits.PageEntries || page.Used + bytes > limits.PageBytes)
        {
            if (page.Bytes - page.Used > page.Used / SparePart)
                Rewrite(ref edit, last, page.Used, out page);
            edit.OutOfMemory = false; // it stays as large as it is
            return false;
        }

        if (page.Bytes - page.Used >= bytes)
            return (page = OpenPage(ref edit, last)).At != null || Fail(ref edit);
        long grown = page.Used + (page.Used < limits.PageBytes / 4 ? page.Used : page.Used / (2 * SparePart));
        long wanted = Math.Min(grown + bytes, Math.Max(limits.PageBytes, page.Used + (long)bytes));
        return Rewrite(ref edit, last, (int)wanted, out page);
    }

    private static bool Fail(ref RecordEdit edit)
    {
        edit.OutOfMemory = true;
        return false;
    }

    private static bool Rewrite(ref RecordEdit edit, int number, int bytes, out StreamPage page)
    {
        byte* fresh = edit.BeginReplace(Slot(edit.Value, number)->Number, bytes, out byte* old);
        page = new StreamPage(fresh, bytes);
        if (fresh == null)
            return false;
        int used = new StreamPage(old, 0).Used;
        Buffer.MemoryCopy(old, fresh, bytes, used);
        edit.EndReplace();
        return true;
    }

    // A page behind all others, as large as the one before it has become, so that it need not grow. The caller puts an entry into it (streams.S1).
    private static bool TryAddPage(ref RecordEdit edit, StreamId first, in Operands fields, in StreamLimits limits, out StreamPage page)
    {
        StreamHeader* root = Header(ref edit);
        int known = (edit.ValueBytes - StreamHeader.Bytes) / StreamSlot.Bytes, used = root->Skipped + root->Pages;
        if (used == known && root->Skipped > 16 && root->Skipped > root->Pages / 4)
        {
            Rotate(ref edit, known);
            root = Header(ref edit);
            used = root->Pages;
        }

        uint number = used < known ? Slot(edit.Value, root->Pages)->Number : (uint)known;
        long capacity = StreamPage.FirstBytesMax(fields);
        if (root->Pages > 0)
        {
            int before = PageAt(ref edit, root->Pages - 1).Used;
            capacity = Math.Max(capacity,
                Math.Min(before + (before / (4 * SparePart)) + StreamPage.BytesMax(fields, withNames: false), limits.PageBytes));
        }

        byte* chunk = edit.WriteChunk(number, (int)capacity);
        page = default;
        if (chunk == null)
            return false;
        page = StreamPage.Begin(chunk, (int)capacity, first, fields);
        root = Open(ref edit, used < known ? edit.ValueBytes : edit.ValueBytes + StreamSlot.Bytes);
        *Slot((byte*)root, root->Pages++) = new StreamSlot { First = first, Number = number };
        root->Limit = Math.Max(root->Limit, number + 1);
        edit.Close();
        return true;
    }

    // The slots before the first one in use go behind the last one.
    private static void Rotate(ref RecordEdit edit, int known)
    {
        StreamHeader* root = Open(ref edit);
        var slots = new Span<StreamSlot>((byte*)root + StreamHeader.Bytes, known);
        slots[..root->Skipped].Reverse();
        slots[root->Skipped..].Reverse();
        slots.Reverse();
        root->Skipped = 0;
        edit.Close();
    }

    private static void RemovePage(ref RecordEdit edit, int page)
    {
        uint number = Slot(edit.Value, page)->Number;
        edit.RemoveChunk(number);
        StreamHeader* root = Open(ref edit);
        if (page == 0)
        {
            root->Skipped++;
        }
        else
        {
            long tail = (root->Pages - page - 1) * (long)StreamSlot.Bytes;
            Buffer.MemoryCopy(Slot((byte*)root, page + 1), Slot((byte*)root, page), tail, tail);
            Slot((byte*)root, root->Pages - 1)->Number = number;
        }

        if (--root->Pages == 0)
            root->Skipped = 0;
        edit.Close();
    }
}
