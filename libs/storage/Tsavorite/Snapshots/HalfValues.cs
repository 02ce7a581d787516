using Garnet.Media;

namespace Tsavorite;

/// <summary>Finds in one partition the collections that are not whole, and pieces that nobody has; pieces lie in their root's partition.</summary>
internal sealed unsafe class HalfValues : IDisposable
{
    private readonly StoreCore _core;
    private readonly Partition* _partition;
    private readonly IValueCheck? _check;
    private readonly ColdReads? _cold;
    private readonly ChunkScratch _scratch;
    private readonly HashSet<ulong> _owners = [];

    public HalfValues(StoreCore core, Partition* partition, IValueCheck? check)
    {
        _core = core;
        _partition = partition;
        _check = check;
        _cold = core.Tier is { } tier ? new ColdReads(tier, ReaderWake.None) : null;
        _scratch = new ChunkScratch { Cold = _cold };
    }

    /// <summary>Removes them. The roots come first: which pieces belong to one is known then.</summary>
    public void Remove(ColdLosses losses)
    {
        Partition.Enter(_partition);
        try
        {
            for (BucketCursor at = default; !at.AtEnd; at.MoveOn(_core, _partition))
            {
                while (RemoveHalf(at.Current(_core, _partition), losses))
                {
                    // removing a word may pull another into its slot: the bucket is looked at anew
                }
            }
            for (BucketCursor at = default; !at.AtEnd; at.MoveOn(_core, _partition))
            {
                while (RemovePiece(at.Current(_core, _partition)))
                {
                    // the same
                }
            }
        }
        finally
        {
            Partition.Exit(_partition);
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _cold?.Dispose();
        _scratch.Dispose();
    }

    private bool RemoveHalf(byte* bucket, ColdLosses losses)
    {
        for (SlotWalk walk = new(_partition, bucket); walk.Next();)
        {
            if (*walk.Slot == 0 || (*walk.Slot & IndexWord.InternalBit) != 0)
                continue;
            byte* record = RecordAt(*walk.Slot);
            if (Record.Owner(record) == 0 || _owners.Contains(Record.Owner(record)))
                continue;
            KeyRef key = _core.KeyOf(record);
            if (IsWhole(key))
            {
                _owners.Add(Record.Owner(record));
                continue;
            }
            losses.Lose(key);
            Remove(bucket, walk.Slot, key.Namespace);
            return true;
        }
        return false;
    }

    private bool RemovePiece(byte* bucket)
    {
        for (SlotWalk walk = new(_partition, bucket); walk.Next();)
        {
            if (*walk.Slot == 0 || (*walk.Slot & IndexWord.InternalBit) == 0)
                continue;
            byte* record = RecordAt(*walk.Slot);
            if (ChunkKey.Is(record) && _owners.Contains(ChunkKey.Owner(Record.Key(record))))
                continue;
            Remove(bucket, walk.Slot, Record.Namespace(record));
            return true;
        }
        return false;
    }

    private byte* RecordAt(ulong word)
    {
        _cold?.BeginStep();
        return _core.RecordAt(word, _cold);
    }

    // Its pieces, which a root in memory leaves to the reaper, are met by the walk too.
    private void Remove(byte* bucket, ulong* slot, uint ns)
    {
        if (IndexWord.IsCold(*slot))
            _core.RemoveCold(_partition, bucket, slot, ns);
        else
            _core.Remove(_partition, bucket, slot);
    }

    private bool IsWhole(in KeyRef key)
    {
        if (_check is null)
            return true;
        System.Runtime.CompilerServices.Unsafe.SkipInit(out RecordEdit edit);
        edit.Begin(_core, _partition, _scratch, key, nowMs: 0, EditAim.Look);
        return Judgement.IsWhole(_check, ref edit, out _);
    }
}
