using System.Runtime.CompilerServices;
using Garnet.Common.Faults;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Names with a state of fixed size each, in one chunk: groups of a stream, consumers of a group. 0-3 number of slots, 4-7 names in use,
/// 8-11 bytes of a state, 12-15 end of what is in use; then slots (offset of the name, its length or -1 for a free slot, the state); then
/// the slots' numbers in the order of the names; then names. A name keeps its slot while it is there, so that others can refer to it.
/// Written anew for a new name, which is rare.
/// </summary>
public readonly unsafe struct NameTable(byte* at)
{
    private const int HeaderBytes = 16, SlotHeadBytes = 8;

    public bool IsNone => at == null;

    public int Slots => at == null ? 0 : *(int*)at;

    /// <summary>Number of names.</summary>
    public int Count => at == null ? 0 : *(int*)(at + 4);

    /// <summary>The table in a chunk, empty if there is none.</summary>
    public static NameTable Of(ref RecordEdit edit, uint chunk) => new(edit.Chunk(chunk, out _));

    /// <summary>The table to be changed where it is.</summary>
    public static NameTable Open(ref RecordEdit edit, uint chunk)
    {
        byte* at = edit.OpenChunk(chunk, out _);
        Check.That(at != null, "store.E4 a chunk can be moved");
        return new NameTable(at);
    }

    /// <summary>
    /// True if these bytes are a table with states of that size: each slot in use has its name behind the slots, and stands once in the
    /// order of the names. The bytes come from outside.
    /// </summary>
    public static bool IsSound(byte* at, int bytes, int stateBytes)
    {
        if (bytes < HeaderBytes || *(int*)(at + 8) != stateBytes)
            return false;
        var table = new NameTable(at);
        int end = *(int*)(at + 12), used = 0;
        long names = HeaderBytes + (table.Slots * (long)(SlotBytes(at) + sizeof(int)));
        if (table.Slots < 0 || names > end || end > bytes || table.Count < 0 || table.Count > table.Slots)
            return false;
        for (int slot = 0; slot < table.Slots; slot++)
        {
            int offset = Offset(Slot(at, slot)), length = Length(Slot(at, slot));
            if (length == -1)
                continue;
            if (length < 0 || offset < names || offset > end - length)
                return false;
            used++;
        }

        for (int i = 0; i < table.Count; i++)
        {
            if (!table.Has(table.SlotAt(i))
                || (i > 0 && table.Name(table.SlotAt(i - 1)).SequenceCompareTo(table.Name(table.SlotAt(i))) >= 0))
                return false;
        }

        return used == table.Count;
    }

    /// <summary>True if a slot of that number has a name.</summary>
    public bool Has(int slot) => (uint)slot < (uint)Slots && Length(Slot(at, slot)) >= 0;

    public byte* State(int slot) => Slot(at, slot) + SlotHeadBytes;

    public ReadOnlySpan<byte> Name(int slot) => new(at + Offset(Slot(at, slot)), Length(Slot(at, slot)));

    /// <summary>The slot whose name is the one with that index in their order.</summary>
    public int SlotAt(int index) => Unsafe.ReadUnaligned<int>(Order + (index * sizeof(int)));

    /// <summary>The slot of a name, -1 if it is not there.</summary>
    public int Find(ReadOnlySpan<byte> name)
    {
        int index = Search(name, out bool found);
        return found ? SlotAt(index) : -1;
    }

    /// <summary>Adds a name that is not there, its state all zeros; -1 if there is no memory.</summary>
    public static int Add(ref RecordEdit edit, uint chunk, int stateBytes, ReadOnlySpan<byte> name)
    {
        NameTable old = Of(ref edit, chunk);
        int free = old.FreeSlot(), slots = free < 0 ? old.Slots + 1 : old.Slots, slot = free < 0 ? old.Slots : free;
        long bytes = HeaderBytes + (slots * (long)(SlotHeadBytes + stateBytes + sizeof(int))) + old.NameBytes() + name.Length;
        byte* fresh = bytes > Store.ValueBytesMax ? null
            : old.IsNone ? edit.WriteChunk(chunk, (int)bytes)
            : edit.BeginReplace(chunk, (int)bytes, out _);
        if (fresh == null)
        {
            edit.OutOfMemory = true;
            return -1;
        }

        Write(fresh, old, slots, stateBytes);
        new NameTable(fresh).Put(slot, name);
        if (!old.IsNone)
            edit.EndReplace();
        return slot;
    }

    /// <summary>Forgets a name; its slot is free. The table may be changed.</summary>
    public void Remove(int slot)
    {
        int index = Search(Name(slot), out _), behind = Count - index - 1;
        Buffer.MemoryCopy(Order + ((index + 1) * sizeof(int)), Order + (index * sizeof(int)), behind * sizeof(int), behind * sizeof(int));
        *(int*)(at + 4) -= 1;
        Unsafe.WriteUnaligned(Slot(at, slot) + 4, -1);
    }

    private byte* Order => at + HeaderBytes + (Slots * (long)SlotBytes(at));

    private static int SlotBytes(byte* at) => SlotHeadBytes + *(int*)(at + 8);

    private static byte* Slot(byte* at, int slot) => at + HeaderBytes + (slot * (long)SlotBytes(at));

    private static int Offset(byte* slot) => Unsafe.ReadUnaligned<int>(slot);

    private static int Length(byte* slot) => Unsafe.ReadUnaligned<int>(slot + 4);

    private int FreeSlot()
    {
        if (Count == Slots)
            return -1;
        int slot = 0;
        while (Length(Slot(at, slot)) >= 0)
            slot++;
        return slot;
    }

    private long NameBytes()
    {
        long bytes = 0;
        for (int i = 0; i < Count; i++)
            bytes += Name(SlotAt(i)).Length;
        return bytes;
    }

    private int Search(ReadOnlySpan<byte> name, out bool found)
    {
        int low = 0, high = Count;
        found = false;
        while (low < high && !found)
        {
            int middle = (low + high) >>> 1, order = Name(SlotAt(middle)).SequenceCompareTo(name);
            found = order == 0;
            if (order < 0)
                low = middle + 1;
            else
                high = found ? low = middle : middle;
        }

        return low;
    }

    private static void Write(byte* fresh, NameTable old, int slots, int stateBytes)
    {
        *(int*)fresh = slots;
        *(int*)(fresh + 4) = old.Count;
        *(int*)(fresh + 8) = stateBytes;
        var table = new NameTable(fresh);
        byte* end = table.Order + (slots * sizeof(int));
        for (int slot = 0; slot < slots; slot++)
        {
            byte* to = Slot(fresh, slot);
            new Span<byte>(to, SlotBytes(fresh)).Clear();
            Unsafe.WriteUnaligned(to + 4, -1);
            if (slot >= old.Slots || Length(Slot(old.At, slot)) < 0)
                continue;
            ReadOnlySpan<byte> name = old.Name(slot);
            Unsafe.WriteUnaligned(to, (int)(end - fresh));
            Unsafe.WriteUnaligned(to + 4, name.Length);
            Buffer.MemoryCopy(old.State(slot), to + SlotHeadBytes, stateBytes, stateBytes);
            name.CopyTo(new Span<byte>(end, name.Length));
            end += name.Length;
        }

        for (int i = 0; i < old.Count; i++)
            Unsafe.WriteUnaligned(table.Order + (i * sizeof(int)), old.SlotAt(i));
        *(int*)(fresh + 12) = (int)(end - fresh);
    }

    private byte* At => at;

    private void Put(int slot, ReadOnlySpan<byte> name)
    {
        int index = Search(name, out _), behind = Count - index;
        byte* place = Order + (index * sizeof(int));
        Buffer.MemoryCopy(place, place + sizeof(int), behind * sizeof(int), behind * sizeof(int));
        Unsafe.WriteUnaligned(place, slot);
        *(int*)(at + 4) += 1;
        int end = *(int*)(at + 12);
        Unsafe.WriteUnaligned(Slot(at, slot), end);
        Unsafe.WriteUnaligned(Slot(at, slot) + 4, name.Length);
        name.CopyTo(new Span<byte>(at + end, name.Length));
        *(int*)(at + 12) = end + name.Length;
    }
}
