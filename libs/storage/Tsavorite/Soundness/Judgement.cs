namespace Tsavorite;

/// <summary>Asks the <see cref="IValueCheck"/> about one record, under its partition's lock.</summary>
internal struct Judgement(IValueCheck check) : IExamine
{
    // Numbers of chunks stay small: each is used again before a new one is taken.
    private const uint LimitMax = 1u << 29;

    /// <summary>False once a record was not what it must be.</summary>
    public bool IsSound = true;

    public void Look(ref RecordEdit record) => IsSound &= Of(check, ref record);

    /// <summary>True if what the key holds is whole, or nobody can say.</summary>
    public static bool Of(Store store, StoreSession session, in KeyRef key)
    {
        if (store.Settings.ValueCheck is not { } check)
            return true;
        Judgement judgement = new(check);
        session.Examine(key, ref judgement, quiet: true);
        return judgement.IsSound;
    }

    /// <summary>True if the record is what its kind must be.</summary>
    public static unsafe bool Of(IValueCheck check, ref RecordEdit record)
    {
        if (record.Kind is RecordKind.String or RecordKind.Chunk)
            return record.Owner == 0;
        if (record.Owner == 0)
            return check.IsSound(record.Kind, new ReadOnlySpan<byte>(record.Value, record.ValueBytes));
        if (!IsWhole(check, ref record, out uint limit))
            return false;
        if (!IndexWord.IsCold(*record.Slot))
            record.LowerLimit(limit); // what asks for every number up to it is not kept busy for nothing
        return true;
    }

    /// <summary>True if the record, which has an owner number, and its chunks are a whole value; changes nothing of it.</summary>
    public static unsafe bool IsWhole(IValueCheck check, ref RecordEdit record, out uint limit)
    {
        limit = 0;
        return record.ValueBytes >= RootLimit.ValueBytesMin && RootLimit.Of(record.Value) <= LimitMax
            && check.IsSound(ref record, out limit) && limit <= RootLimit.Of(record.Value);
    }
}
