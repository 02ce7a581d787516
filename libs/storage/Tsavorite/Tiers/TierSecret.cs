using System.Buffers.Binary;
using Garnet.Common.Linux;

namespace Tsavorite;

/// <summary>
/// What the checksums of collections on a tier are made with (<see cref="ColdSum"/>). It is the tier's for as long as that goes on: with what was written under another nothing is gone on with.
/// None: the build that wrote it knew of none, and all its checksums are CRC32C.
/// </summary>
internal readonly record struct TierSecret(ulong First, ulong Second)
{
    public const int Bytes = 2 * sizeof(ulong);
    // The least that its authors call a strong one for: 32 bits are kept, and who guesses has one try of 2^32 for each read, which is counted and told.
    private const int Rounds = 1, LastRounds = 3;

    public bool IsNone => First == 0 && Second == 0;

    public static TierSecret New() => Read(Libc.RandomBytes(Bytes));

    public static TierSecret Read(ReadOnlySpan<byte> from) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(from), BinaryPrimitives.ReadUInt64LittleEndian(from[sizeof(ulong)..]));

    public void Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(to, First);
        BinaryPrimitives.WriteUInt64LittleEndian(to[sizeof(ulong)..], Second);
    }

    public SipHash Begin() => new(First, Second, Rounds, LastRounds);
}
