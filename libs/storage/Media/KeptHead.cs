using System.Numerics;
using System.Runtime.CompilerServices;

namespace Garnet.Media;

/// <summary>
/// What a medium's file begins with (website/docs/format/tier.md): magic, version, id, a note of the owner's, and a checksum of these. Whoever knows the id and the few
/// notes that there may be knows all of it: one that is damaged shows by its checksum alone, or by all else, which it was.
/// </summary>
internal static unsafe class KeptHead
{
    /// <summary>The block that it stands in, zeros behind it.</summary>
    public const int Block = 4096;
    private const int Bytes = 64, Magic = 0x46544E47, FormatVersion = 1, IdAt = 16, NoteAt = 32, CrcAt = 60; // "GNTF"

    /// <summary>Writes it to a block.</summary>
    public static void Write(byte* head, MediumId id, ulong note)
    {
        new Span<byte>(head, Block).Clear();
        *(int*)head = Magic;
        *(int*)(head + 4) = FormatVersion;
        id.Write(new Span<byte>(head + IdAt, MediumId.Bytes));
        *(ulong*)(head + NoteAt) = note;
        *(uint*)(head + CrcAt) = Crc(head);
    }

    /// <summary>What its owner wants to know.</summary>
    public static ulong NoteIn(byte* head) => *(ulong*)(head + NoteAt);

    /// <summary>Why a whole block is not the head of that owner's file; null if it is.</summary>
    public static string? FaultOf(byte* head, MediumId id) => *(int*)head != Magic ? "it is cut, or another file"
        : *(uint*)(head + CrcAt) != Crc(head) ? "the checksum of its head is wrong"
        : *(int*)(head + 4) != FormatVersion ? $"version {*(int*)(head + 4)} is of a newer version of the server"
        : MediumId.Read(new(head + IdAt, MediumId.Bytes)) != id ? "it has the id of another server's data"
        : null;

    /// <summary>
    /// Which note a damaged head of that owner's file had; null if what is left does not show it. Where the checksum is one note's and all else another's the checksum is
    /// right: damage makes one note of another sooner than a checksum of another.
    /// </summary>
    public static ulong? NoteBefore(byte* head, MediumId id, IEnumerable<ulong> notes)
    {
        using Garnet.Common.NativeArray<byte> memory = new(Block, Block);
        ulong? byAllElse = null;
        foreach (ulong note in notes)
        {
            Write(memory.Items, id, note);
            ReadOnlySpan<byte> found = new(head, Bytes), was = new(memory.Items, Bytes);
            if (found[CrcAt..].SequenceEqual(was[CrcAt..]))
                return note;
            if (found[..CrcAt].SequenceEqual(was[..CrcAt]))
                byAllElse = note;
        }
        return byAllElse;
    }

    private static uint Crc(byte* head)
    {
        uint crc = ~0u;
        for (int at = 0; at < CrcAt; at += sizeof(uint)) crc = BitOperations.Crc32C(crc, *(uint*)(head + at));
        return ~crc;
    }
}
