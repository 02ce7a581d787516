using System.Runtime.InteropServices;
using Garnet.Common.Resp;

namespace Garnet.Server.Clients;

/// <summary>Commands that wait for EXEC, back to back in native memory that at most doubles with what has arrived.</summary>
internal sealed unsafe class CommandQueue : IDisposable
{
    private const long FirstBytes = 1024;

    private byte* _memory;
    private long _capacity;
    private long _used;

    /// <summary>Commands waiting.</summary>
    internal int Count { get; private set; }

    /// <summary>Memory taken, in bytes.</summary>
    internal long Capacity => _capacity;

    /// <summary>Bytes of what waits.</summary>
    internal long Bytes => _used;

    /// <summary>Everything that one of the commands is or may do.</summary>
    internal CommandFlags Flags { get; private set; }

    /// <summary>The first command; <see cref="Count"/> of them follow each other.</summary>
    internal QueuedCommand* First => (QueuedCommand*)_memory;

    /// <summary>Bytes that the command will take here.</summary>
    internal static long BytesOf(Arg* args, int count)
    {
        long bytes = sizeof(QueuedCommand) + ((long)count * sizeof(int));
        for (int i = 0; i < count; i++)
            bytes += args[i].Length;
        return (bytes + 7) & ~7L;
    }

    /// <summary>Adds a copy of the command with its arguments, the name included.</summary>
    internal void Add(int command, CommandFlags flags, ulong keyHash, Arg* args, int count)
    {
        long bytes = BytesOf(args, count);
        if (_capacity - _used < bytes + RespLimits.ReadableSlack)
            Grow(_used + bytes + RespLimits.ReadableSlack);
        var queued = (QueuedCommand*)(_memory + _used);
        *queued = new QueuedCommand { KeyHash = keyHash, Bytes = bytes, Command = command, ArgCount = count };
        int* lengths = QueuedCommand.Lengths(queued);
        byte* at = (byte*)(lengths + count);
        for (int i = 0; i < count; i++)
        {
            lengths[i] = args[i].Length;
            Buffer.MemoryCopy(args[i].Bytes, at, lengths[i], lengths[i]);
            at += lengths[i];
        }

        _used += bytes;
        Count++;
        Flags |= flags;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        NativeMemory.Free(_memory);
        _memory = null;
        _capacity = _used = 0;
        Count = 0;
        Flags = CommandFlags.None;
    }

    private void Grow(long needed)
    {
        long capacity = Math.Max(needed, Math.Max(_capacity * 2, FirstBytes));
        _memory = (byte*)NativeMemory.Realloc(_memory, (nuint)capacity);
        _capacity = capacity;
    }
}
