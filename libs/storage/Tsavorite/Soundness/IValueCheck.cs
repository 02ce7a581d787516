namespace Tsavorite;

/// <summary>
/// Judges values that come from outside: from a peer, a snapshot, a log. The store knows bytes and pieces; whoever gives them their
/// meaning fills this in (<see cref="StoreSettings.ValueCheck"/>) and proves every offset, count and order that later reads and changes
/// rely on. Nothing of a value is believed, and nothing outside it is read. Called by many threads at once.
/// store.V1: what has not been judged is not served, nor handed out as our own (<see cref="BlockOrigin.Own"/>); a snapshot's values with chunks are judged when all of it is there.
/// store.V2: who judges reads in time that grows with the value's bytes, and changes nothing of what it means; a root's limit that is higher than
/// it need be is lowered behind that (<see cref="Judgement"/>).
/// </summary>
public interface IValueCheck
{
    /// <summary>True if these bytes are a whole value of that kind without chunks; 32 more can be read behind them.</summary>
    bool IsSound(RecordKind kind, ReadOnlySpan<byte> value);

    /// <summary>
    /// True if the record, which has an owner number, and the chunks it names are a whole value. <paramref name="limit"/> is what the
    /// numbers that it names stay below, the bits of their sets apart.
    /// </summary>
    bool IsSound(ref RecordEdit record, out uint limit);

    /// <summary>
    /// The moment (Unix milliseconds) before which no part of the record has to go because its time has come, though the record stays: it is noted
    /// where such records lie on a tier, so that whoever looks for them need not read all others (<see cref="TimedPass"/>).
    /// <see cref="long.MaxValue"/>: there is no such part; 0 where it cannot be said from these bytes.
    /// </summary>
    long TimedPartsFrom(RecordKind kind, ReadOnlySpan<byte> value);
}
