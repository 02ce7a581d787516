using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Garnet.Common.Resp;

/// <summary>
/// The arguments of the commands of one batch, back to back off the managed heap. Grows with what has arrived, never
/// with what a header announces; shrinks back after an outsized batch.
/// </summary>
public sealed unsafe class ArgList : IDisposable
{
    private const int UsualCapacity = 1024;
    private Arg* _items = (Arg*)NativeMemory.Alloc(UsualCapacity, (nuint)sizeof(Arg));
    private readonly List<nint> _scratch = [];
    private int _capacity = UsualCapacity;

    /// <summary>Arguments held now.</summary>
    public int Count;

    /// <summary>The first argument; moves when the list grows.</summary>
    public Arg* Items => _items;

    /// <summary>Adds an argument.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // ParserBenchmark: runs for every argument
    public void Add(byte* bytes, int length)
    {
        if (Count == _capacity)
            Grow(_capacity * 2);
        Arg* item = _items + Count++;
        item->Bytes = bytes;
        item->Length = length;
    }

    /// <summary>Room for <paramref name="count"/> arguments behind the last one; the caller counts those it filled.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // ParserBenchmark: runs for every command
    public Arg* Reserve(int count)
    {
        if (_capacity - Count < count)
            Grow(Math.Max(_capacity * 2, Count + count));
        return _items + Count;
    }

    /// <summary>Memory for the bytes of arguments that stand nowhere as they are; lives until <see cref="Clear"/>.</summary>
    public byte* Scratch(int bytes)
    {
        byte* memory = (byte*)NativeMemory.Alloc((nuint)bytes + RespLimits.ReadableSlack);
        _scratch.Add((nint)memory);
        return memory;
    }

    /// <summary>Forgets all arguments.</summary>
    public void Clear()
    {
        Count = 0;
        if (_scratch.Count > 0)
            FreeScratch();
        if (_capacity > 64 * UsualCapacity)
            Grow(UsualCapacity);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        FreeScratch();
        NativeMemory.Free(_items);
        _items = null;
        _capacity = 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void FreeScratch()
    {
        foreach (nint memory in _scratch)
            NativeMemory.Free((void*)memory);
        _scratch.Clear();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Grow(int capacity)
    {
        _items = (Arg*)NativeMemory.Realloc(_items, (nuint)capacity * (nuint)sizeof(Arg));
        _capacity = capacity;
    }
}
