using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Commands;

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
    internal static long BytesOf(ref Call call)
    {
        long bytes = sizeof(QueuedCommand) + ((long)call.Count * sizeof(int));
        for (int i = 0; i < call.Count; i++)
            bytes += call.Args[i].Length;
        return (bytes + 7) & ~7L;
    }

    /// <summary>Adds a copy of the command.</summary>
    internal void Add(ref Call call, CommandEntry* entry)
    {
        long bytes = BytesOf(ref call);
        if (_capacity - _used < bytes + RespLimits.ReadableSlack)
            Grow(_used + bytes + RespLimits.ReadableSlack);
        var command = (QueuedCommand*)(_memory + _used);
        *command = new QueuedCommand { KeyHash = call.KeyHash, Bytes = bytes, Command = entry->Id, ArgCount = call.Count };
        int* lengths = QueuedCommand.Lengths(command);
        byte* at = (byte*)(lengths + call.Count);
        for (int i = 0; i < call.Count; i++)
        {
            lengths[i] = call.Args[i].Length;
            Buffer.MemoryCopy(call.Args[i].Bytes, at, lengths[i], lengths[i]);
            at += lengths[i];
        }

        _used += bytes;
        Count++;
        Flags |= entry->Flags;
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
