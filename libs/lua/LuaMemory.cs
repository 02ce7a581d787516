using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;

namespace Garnet.Lua;

/// <summary>
/// The memory of one Lua state: small blocks from chunks by size, large ones by themselves, all of it counted against a limit.
/// Behind every block some bytes are readable, as behind every argument of a command: strings of a script are passed as they lie.
///
/// lua.L1  Over the limit nothing is given while a script runs by itself. Inside a function of ours, and outside of protected
///     calls, the limit is off: an error raised there would jump over managed frames, or end the process. There the function
///     itself asks whether what it is to hold has room, and is judged when it returns.
/// lua.L4  No block has 2 GiB: the length of every text of a script is an int.
/// lua.L5  A step that takes or asks for much memory takes time: after it the script is looked at soon.
/// </summary>
internal unsafe struct LuaMemory
{
    private const int Step = 16, SmallMax = 512, Classes = SmallMax / Step, ChunkBytes = 64 * 1024;
    private const int LongBytes = 1 << 20, BlockBytesMax = int.MaxValue - ChunkBytes;
    private const int SoonSteps = 1;

    /// <summary>Bytes in use.</summary>
    public long Used;
    /// <summary>Bytes that may be.</summary>
    public long Limit;
    /// <summary>Above 0 while the limit is off (lua.L1).</summary>
    public int Off;
    /// <summary>Bytes of chunks.</summary>
    public long Chunked;
    /// <summary>The thread that ran when last one was seen; 0 if it is gone.</summary>
    public nint Current;
    /// <summary>What looks at a script after so many of its steps.</summary>
    public nint Hook;
    private fixed ulong _free[Classes];
    private byte* _at;
    private byte* _end;
    private byte* _chunks;

    internal static LuaMemory* Open(long limit)
    {
        var memory = (LuaMemory*)NativeMemory.AllocZeroed((nuint)sizeof(LuaMemory));
        memory->Limit = limit;
        memory->Off = 1;
        return memory;
    }

    internal static void Close(LuaMemory* memory)
    {
        for (byte* chunk = memory->_chunks; chunk != null;)
        {
            byte* next = *(byte**)chunk;
            NativeMemory.Free(chunk);
            chunk = next;
        }

        NativeMemory.Free(memory);
    }

    /// <summary>The allocator, as Lua calls it.</summary>
    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    internal static void* Allocate(void* owner, void* block, nuint oldBytes, nuint bytes)
    {
        var memory = (LuaMemory*)owner;
        if (block == null)
            oldBytes = 0; // it says what the block is for
        long grows = (long)bytes - (long)oldBytes;
        if (grows > 0 && memory->Off == 0 && (memory->Used + grows > memory->Limit || bytes > LongBytes)
            && !TryTakeMuch(memory, bytes, grows))
            return null;
        memory->Used += grows;
        if (bytes == 0)
        {
            if ((nint)block == memory->Current - sizeof(nint))
                memory->Current = 0;
            Give(memory, block, oldBytes);
            return null;
        }

        if (block == null)
            return Take(memory, bytes);
        if (oldBytes > SmallMax && bytes > SmallMax)
            return NativeMemory.Realloc(block, bytes + RespLimits.ReadableSlack);
        if (oldBytes <= SmallMax && bytes <= SmallMax && ClassOf(oldBytes) == ClassOf(bytes))
            return block;
        void* moved = Take(memory, bytes);
        Buffer.MemoryCopy(block, moved, (long)bytes, (long)Math.Min(oldBytes, bytes));
        Give(memory, block, oldBytes);
        return moved;
    }

    // lua.L5. A hook may be set at any moment of a script.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool TryTakeMuch(LuaMemory* memory, nuint bytes, long grows)
    {
        if (memory->Current != 0)
            LuaApi.SetHook(memory->Current, memory->Hook, LuaApi.CountMask, SoonSteps);
        return bytes <= BlockBytesMax && grows <= memory->Limit - memory->Used; // lua.L4
    }

    private static int ClassOf(nuint bytes) => (int)((bytes - 1) / Step);

    private static void* Take(LuaMemory* memory, nuint bytes)
    {
        if (bytes > SmallMax)
            return NativeMemory.Alloc(bytes + RespLimits.ReadableSlack);
        int of = ClassOf(bytes);
        ulong free = memory->_free[of];
        if (free != 0)
        {
            memory->_free[of] = *(ulong*)free;
            return (void*)free;
        }

        int size = (of + 1) * Step;
        if (memory->_end - memory->_at < size)
            AddChunk(memory);
        byte* block = memory->_at;
        memory->_at += size;
        return block;
    }

    private static void Give(LuaMemory* memory, void* block, nuint bytes)
    {
        if (block == null)
            return;
        if (bytes > SmallMax)
        {
            NativeMemory.Free(block);
            return;
        }

        int of = ClassOf(bytes);
        *(ulong*)block = memory->_free[of];
        memory->_free[of] = (ulong)block;
    }

    // What is left of the last chunk is lost: less than the largest small block.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AddChunk(LuaMemory* memory)
    {
        byte* chunk = (byte*)NativeMemory.Alloc(ChunkBytes + RespLimits.ReadableSlack);
        *(byte**)chunk = memory->_chunks;
        memory->_chunks = chunk;
        memory->Chunked += ChunkBytes;
        memory->_at = chunk + Step;
        memory->_end = chunk + ChunkBytes;
    }
}
