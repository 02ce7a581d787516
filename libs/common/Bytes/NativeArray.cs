using System.Runtime.InteropServices;

namespace Garnet.Common;

/// <summary>
/// Memory outside the managed heap for so many items, zeros at first, that stays where it is and as large as it is until whoever made it disposes of it, once.
/// What grows is a <see cref="NativeBuffer"/>.
/// </summary>
public readonly unsafe struct NativeArray<T> : IDisposable where T : unmanaged
{
    private readonly bool _isAligned;

    /// <summary>Takes the memory; <paramref name="alignment"/>: what its address is a multiple of, 0 = what is usual.</summary>
    public NativeArray(long count, int alignment = 0)
    {
        Bytes = checked(count * sizeof(T));
        _isAligned = alignment > 0;
        Items = (T*)(_isAligned ? NativeMemory.AlignedAlloc((nuint)Bytes, (nuint)alignment) : NativeMemory.AllocZeroed((nuint)Bytes));
        if (_isAligned)
            Clear();
    }

    /// <summary>The first item; null of what was never made.</summary>
    public T* Items { get; }

    /// <summary>Bytes of all items.</summary>
    public long Bytes { get; }

    /// <summary>Makes all of it zeros.</summary>
    public void Clear() => NativeMemory.Clear(Items, (nuint)Bytes);

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_isAligned)
            NativeMemory.AlignedFree(Items);
        else
            NativeMemory.Free(Items);
    }
}
