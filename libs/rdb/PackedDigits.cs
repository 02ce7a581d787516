using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>Room for the digits of two integers, so that a pair can be held at once. It must not move while they are used.</summary>
internal unsafe struct PackedDigits
{
    private const int SlotBytes = 32;
    private fixed byte _bytes[2 * SlotBytes];
    private int _slot;

    /// <summary>The text of an integer, until two more have been asked for.</summary>
    internal Arg TextOf(long value)
    {
        _slot ^= SlotBytes;
        byte* start = (byte*)Unsafe.AsPointer(ref _bytes[_slot]);
        return new Arg { Bytes = start, Length = (int)(NumberText.Write(start, value) - start) };
    }
}
