using Garnet.Media;

namespace Tsavorite.Test.Tiers;

/// <summary>
/// A medium in memory that fails when it is told to. Reads bring what lies there when they are taken, not when they were begun, and in another
/// order: whoever lets go of what is being read gets something else.
/// </summary>
internal sealed unsafe class SimulatedMedium(long bytes) : IMedium
{
    private readonly byte[] _bytes = new byte[bytes];
    private const int SectorBytes = 512;
    private readonly bool[] _dirty = new bool[bytes / SectorBytes]; // sectors in which that may differ from what is durable
    private byte[]? _durable; // null: zeros
    private int _reads, _writes, _underWay;

    /// <summary>The error number of a write, by its number; 0: it succeeds.</summary>
    public Func<int, int> FailsWrite { get; set; } = static _ => 0;

    /// <summary>What a read that comes to <see cref="FailsRead"/> is: a bit flipped, half of it, what lies a page further.</summary>
    public const int Flipped = 1, Short = -1, Elsewhere = -2;

    /// <summary>What a read by its number comes to: 0 as it is, one of the constants, else an error number.</summary>
    public Func<int, int> FailsRead { get; set; } = static _ => 0;

    /// <summary>A write by its number is said to have been made, and was not.</summary>
    public Func<int, bool> LosesWrite { get; set; } = static _ => false;

    /// <summary>
    /// Whether a sector that is to be written had its turn before, with what it held till then: a power cut may leave that too, which was neither the last that
    /// was synced nor the last that was written. Null: none had.
    /// </summary>
    public Func<bool>? WritesBack { get; set; }

    /// <summary>Whether a reader that asks gets nothing yet.</summary>
    public Func<bool> Delays { get; set; } = static () => false;

    /// <summary>Whether what is read there is not answered; what was begun then is, once this says so.</summary>
    public Func<long, bool> Hangs { get; set; } = static _ => false;

    /// <summary>The time, and how long each read takes, from when it was begun; for a disk that is slow.</summary>
    public Func<long> NowUs { get; set; } = static () => 0;
    public long TakesUs { get; set; }

    /// <summary>Called instead of a wait, with how many milliseconds it takes at most.</summary>
    public Action<int> Waits { get; set; } = static _ => { };

    /// <summary>Reads that were begun and not taken, of all readers.</summary>
    public int UnderWay => _underWay;

    public int Reads => _reads;

    /// <summary>Reads of one reader that were begun and not taken, at the most.</summary>
    public int MostUnderWay { get; private set; }

    public MediumFacts Facts { get; } = new() { BlockBytes = 4096, Domain = PersistenceDomain.None, IsDirect = true, Reading = "memory" };

    public long Bytes => _bytes.LongLength;

    public int Write(long offset, byte* from, int bytes)
    {
        Assert(offset, from, bytes);
        BeforeTransfer();
        int number = Interlocked.Increment(ref _writes), put = bytes; // of one in which the machine goes down any part may be there
        try
        {
            int error = FailsWrite(number);
            if (LosesWrite(number)) return 0;
            if (error != 0) put /= 2; // what fails may have got half of it there
            return error;
        }
        finally
        {
            if (!LosesWrite(number)) Put(offset, new ReadOnlySpan<byte>(from, put));
        }
    }

    /// <summary>The error number of the next sync; 0: it succeeds.</summary>
    public int SyncError { get; set; }

    /// <summary>Called before something is written, and before what was read is taken.</summary>
    public Action BeforeTransfer { get; set; } = static () => { };

    /// <summary>Called before a sync does anything.</summary>
    public Action BeforeSync { get; set; } = static () => { };

    /// <summary>A sync is said to have been made, and was not.</summary>
    public bool LosesSync { get; set; }

    public int Sync()
    {
        BeforeSync();
        if (SyncError == 0 && !LosesSync) Settle();
        return SyncError;
    }

    /// <summary>The power fails: of each sector written since the last sync it is chance whether it is there. What is found then stays.</summary>
    public void Crash(int seed)
    {
        Random random = new(seed);
        for (int sector = NextDirty(0); sector < _dirty.Length; sector = NextDirty(sector + 1))
        {
            if (random.Next(3) == 0) continue;
            Span<byte> to = _bytes.AsSpan(sector * SectorBytes, SectorBytes);
            if (_durable is null) to.Clear();
            else _durable.AsSpan(sector * SectorBytes, SectorBytes).CopyTo(to);
        }
        Settle();
    }

    /// <summary>What lies there, to be harmed.</summary>
    public Span<byte> At(long offset, int length)
    {
        MarkDirty(offset, length);
        return _bytes.AsSpan((int)offset, length);
    }

    public IMediumReader OpenReader(int depth, ReaderWake wake) => new Reader(this, depth);

    public void Dispose()
    {
    }

    private void Put(long offset, ReadOnlySpan<byte> from)
    {
        for (int at = (int)offset; WritesBack is { } isDue && at < offset + from.Length; at += SectorBytes)
        {
            if (isDue()) _bytes.AsSpan(at, SectorBytes).CopyTo((_durable ??= new byte[_bytes.Length]).AsSpan(at));
        }
        from.CopyTo(_bytes.AsSpan((int)offset));
        MarkDirty(offset, from.Length);
    }

    private void MarkDirty(long offset, int length) =>
        _dirty.AsSpan((int)(offset / SectorBytes)..(int)((offset + length + SectorBytes - 1) / SectorBytes)).Fill(true);

    private int NextDirty(int from) => _dirty.AsSpan(from).IndexOf(true) is >= 0 and var next ? from + next : _dirty.Length;

    // What is written meanwhile is marked behind it, and so is dirty again.
    private void Settle()
    {
        _durable ??= new byte[_bytes.Length];
        for (int sector = NextDirty(0); sector < _dirty.Length; sector = NextDirty(sector + 1))
        {
            _dirty[sector] = false;
            _bytes.AsSpan(sector * SectorBytes, SectorBytes).CopyTo(_durable.AsSpan(sector * SectorBytes));
        }
    }

    private void Assert(long offset, byte* at, int bytes)
    {
        if (((offset | (long)at | (long)bytes) & 4095) != 0) throw new InvalidOperationException($"not whole blocks: {offset} {(long)at:x} {bytes}");
        if (offset < 0 || offset + bytes > Bytes) throw new InvalidOperationException("outside");
    }

    private FinishedRead Finish(in Begun read)
    {
        int fault = FailsRead(Interlocked.Increment(ref _reads));
        if (fault > 1) return new FinishedRead(read.Token, -fault);
        long from = fault != Elsewhere ? read.Offset : read.Offset + read.Bytes < Bytes - read.Bytes ? read.Offset + read.Bytes : 0;
        if (fault == Short) return new FinishedRead(read.Token, read.Bytes / 2);
        _bytes.AsSpan((int)from, read.Bytes).CopyTo(new Span<byte>((void*)read.To, read.Bytes));
        if (fault == Flipped)
        {
            // The bit of a random byte may be one that no record has: all pages have one flipped somewhere in each 16 bytes.
            for (int i = 0; i < read.Bytes; i += 16) ((byte*)read.To)[i] ^= 4;
        }
        return new FinishedRead(read.Token, read.Bytes);
    }

    private readonly record struct Begun(ulong Token, long Offset, nint To, int Bytes, long ComesAtUs);

    private bool Keeps(in Begun read) => Hangs(read.Offset) || NowUs() < read.ComesAtUs;

    private sealed class Reader(SimulatedMedium medium, int depth) : IMediumReader
    {
        private readonly List<Begun> _begun = [];
        private readonly Random _random = new(1);

        public int Room => depth - _begun.Count;

        public void Begin(ulong token, long offset, byte* to, int bytes)
        {
            medium.Assert(offset, to, bytes);
            _begun.Add(new Begun(token, offset, (nint)to, bytes, medium.NowUs() + medium.TakesUs));
            Interlocked.Increment(ref medium._underWay);
            medium.MostUnderWay = Math.Max(medium.MostUnderWay, _begun.Count);
        }

        public void Submit()
        {
        }

        public int Take(Span<FinishedRead> finished)
        {
            int count = 0;
            medium.BeforeTransfer();
            if (medium.Delays()) return 0;
            while (_begun.Count > 0 && count < finished.Length && _random.Next(4) != 0)
            {
                int first = _random.Next(_begun.Count), next = first;
                while (medium.Keeps(_begun[next]))
                {
                    next = (next + 1) % _begun.Count;
                    if (next == first) return count;
                }
                finished[count++] = medium.Finish(_begun[next]);
                _begun.RemoveAt(next);
                Interlocked.Decrement(ref medium._underWay);
            }
            return count;
        }

        public void Wait(int milliseconds)
        {
            if (!_begun.TrueForAll(read => medium.Keeps(read))) return;
            long nowUs = medium.NowUs(), endUs = nowUs + (milliseconds * 1000L);
            foreach (Begun read in _begun) endUs = medium.Hangs(read.Offset) ? endUs : Math.Min(endUs, read.ComesAtUs);
            medium.Waits((int)((endUs - nowUs + 999) / 1000));
        }

        public void WakeNobody()
        {
        }

        public void Dispose()
        {
            Interlocked.Add(ref medium._underWay, -_begun.Count);
            _begun.Clear();
        }
    }
}
