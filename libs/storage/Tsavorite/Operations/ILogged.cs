namespace Tsavorite;

/// <summary>
/// A deterministic change that the log keeps by number and arguments, and that whoever reads the log runs again.
/// </summary>
public interface ILogged
{
    /// <summary>Persisted number of the operation; listed in <c>test/golden/op-ids.txt</c>, never reused.</summary>
    static abstract byte OpId { get; }

    /// <summary>Bytes <see cref="Encode"/> needs at most.</summary>
    long EncodedBytesMax { get; }

    /// <summary>Writes the operation's arguments (not its result) for the log; returns the bytes used.</summary>
    int Encode(Span<byte> to);

    /// <summary>
    /// Reads back what <see cref="Encode"/> wrote. The operation may keep pointers into <paramref name="from"/>,
    /// which stays in place until the operation has run. False if the bytes are not a valid encoding.
    /// </summary>
    bool TryDecode(ReadOnlySpan<byte> from);

    /// <summary>
    /// True if what an operation with these arguments leaves does not depend on what was there: whoever reads a log and has lost a value knows from there on again
    /// what is under its key (<see cref="ColdLosses"/>).
    /// </summary>
    static virtual bool Replaces(ReadOnlySpan<byte> arguments) => false;
}
