using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Remembering one entry of a producer, in two steps: all that may find no memory comes first and can be taken back, so that an entry is
/// added and remembered, or neither.
/// </summary>
public unsafe struct ProducedNote(ProducedId produced, StreamId id)
{
    private bool _isFirst;
    private bool _isNewName;
    private bool _isNewProducer;

    private readonly PendingKey Named => StreamProducers.KeyOf(produced);

    private readonly PendingKey Counted => new(produced.Producer, StreamId.Min);

    private readonly PendingKey Aged => new(produced.Producer, id);

    /// <summary>Makes room; false if there is no memory, and nothing has changed.</summary>
    public bool TryReserve(ref RecordEdit edit, ProducerLimits limits)
    {
        _isFirst = !StreamProducers.TryState(ref edit, out _);
        if (_isFirst && !StreamProducers.TryBegin(ref edit, limits))
            return false;
        _isNewName = StreamProducers.ByName.Find(ref edit, Named) == null;
        _isNewProducer = StreamProducers.ByAge.Find(ref edit, Counted) == null;
        if ((!_isNewName || StreamProducers.ByName.TryAdd(ref edit, Named) != null)
            && (!_isNewProducer || TryCount(ref edit))
            && StreamProducers.ByAge.TryAdd(ref edit, Aged) != null)
            return true;
        Undo(ref edit);
        return false;
    }

    /// <summary>Takes the room back.</summary>
    public readonly void Undo(ref RecordEdit edit)
    {
        StreamProducers.ByAge.TryRemove(ref edit, Aged);
        if (_isNewProducer)
            StreamProducers.ByAge.TryRemove(ref edit, Counted);
        if (_isNewName)
            StreamProducers.ByName.TryRemove(ref edit, Named);
        if (_isFirst)
            StreamProducers.End(ref edit);
        edit.OutOfMemory = true; // which is why; removing may have set it back
    }

    /// <summary>Fills the room. A name that was due names the new entry from now on.</summary>
    public readonly void Keep(ref RecordEdit edit, long nowMs)
    {
        int more = 1;
        if (!_isNewName)
        {
            StreamId before = ((ProducedEntry*)StreamProducers.ByName.Find(ref edit, Named))->Id;
            StreamProducers.ByAge.TryRemove(ref edit, Aged with { Id = before });
            more = 0;
        }

        *(ProducedEntry*)StreamProducers.ByName.Open(ref edit, Named) = new ProducedEntry { Id = id, AddedMs = nowMs };
        *(StreamId*)StreamProducers.ByAge.Open(ref edit, Aged) = produced.Name;
        *(long*)StreamProducers.ByAge.Open(ref edit, Counted) += more;
        ProducersState* state = StreamProducers.Open(ref edit);
        state->Producers += _isNewProducer ? 1 : 0;
        state->Names += more;
        state->Added++;
    }

    private readonly bool TryCount(ref RecordEdit edit)
    {
        byte* count = StreamProducers.ByAge.TryAdd(ref edit, Counted);
        if (count != null)
            *(long*)count = 0;
        return count != null;
    }
}
