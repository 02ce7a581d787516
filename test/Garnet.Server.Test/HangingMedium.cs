using Garnet.Common.Test;
using Garnet.Media;
using Garnet.Server.Test.Net;

namespace Garnet.Server.Test;

/// <summary>Stands before a disk and keeps what is to be read there from it, where it is told to: as a disk that hangs, or a part of it.</summary>
internal sealed unsafe class HangingMedium(IMedium disk, TestClock clock) : IMedium
{
    private const int PageBytes = 4096;
    private readonly Lock _gate = new();
    private readonly HashSet<long> _hung = [], _read = [];
    private readonly ManualResetEventSlim _takesWrites = new(initialState: true);
    private bool _isHung;
    private int _kept, _reads, _underWay;

    public MediumFacts Facts => disk.Facts;

    public long Bytes => disk.Bytes;

    /// <summary>Reads that were begun and that the disk has not been told of.</summary>
    public int Kept => Volatile.Read(ref _kept);

    /// <summary>Reads that whoever has begun them has not got back.</summary>
    public int UnderWay => Volatile.Read(ref _underWay);

    /// <summary>How long each read takes by the clock that tests move, from when it was begun; of a disk that is slow.</summary>
    public long TakesMs { get; set; }

    /// <summary>Reads that the disk was told of.</summary>
    public int Reads => Volatile.Read(ref _reads);

    /// <summary>Called whenever somebody waits for what hangs.</summary>
    public Action Waiting { get; set; } = static () => { };

    /// <summary>Whatever is read while this goes on hangs from now on.</summary>
    public void HangWhatIsReadBy(Action reads)
    {
        lock (_gate) _read.Clear();
        reads();
        lock (_gate) _hung.UnionWith(_read);
    }

    /// <summary>Nothing is read, nor written.</summary>
    public void HangAll()
    {
        HangWrites();
        lock (_gate) _isHung = true;
    }

    /// <summary>Nothing is written.</summary>
    public void HangWrites() => _takesWrites.Reset();

    public void Mend()
    {
        _takesWrites.Set();
        lock (_gate)
        {
            _isHung = false;
            _hung.Clear();
        }
    }

    public int Write(long offset, byte* from, int bytes)
    {
        _takesWrites.Await();
        return disk.Write(offset, from, bytes);
    }

    public int Sync() => disk.Sync();

    public IMediumReader OpenReader(int depth, ReaderWake wake) => new Reader(this, disk.OpenReader(depth, wake));

    public void Dispose()
    {
        disk.Dispose();
        _takesWrites.Dispose();
    }

    private bool Keeps(in Begun read) => clock.MonotonicUs < read.ComesAtUs || Hangs(read.Offset);

    private bool Hangs(long offset)
    {
        lock (_gate)
        {
            _read.Add(offset / PageBytes);
            return _isHung || _hung.Contains(offset / PageBytes);
        }
    }

    private readonly record struct Begun(ulong Token, long Offset, nint To, int Bytes, long ComesAtUs);

    private sealed class Reader(HangingMedium medium, IMediumReader inner) : IMediumReader
    {
        private readonly List<Begun> _kept = [];
        private int _well;

        public int Room => inner.Room - _kept.Count;

        public void Begin(ulong token, long offset, byte* to, int bytes)
        {
            Interlocked.Increment(ref medium._reads);
            Interlocked.Increment(ref medium._underWay);
            if (!medium.Hangs(offset) && medium.TakesMs == 0)
            {
                inner.Begin(token, offset, to, bytes);
                _well++;
                return;
            }

            _kept.Add(new Begun(token, offset, (nint)to, bytes, medium.NowUs + (medium.TakesMs * 1000)));
            Interlocked.Increment(ref medium._kept);
        }

        public void Submit() => inner.Submit();

        public int Take(Span<FinishedRead> finished)
        {
            foreach (Begun read in _kept.Where(read => !medium.Keeps(read)).ToArray())
            {
                _kept.Remove(read);
                Interlocked.Decrement(ref medium._kept);
                inner.Begin(read.Token, read.Offset, (byte*)read.To, read.Bytes);
                _well++;
            }

            inner.Submit();
            int count = inner.Take(finished);
            _well -= count;
            Interlocked.Add(ref medium._underWay, -count);
            return count;
        }

        // What waits for what hangs has waited for as long as it wanted to; what does not comes by itself.
        public void Wait(int milliseconds)
        {
            inner.Wait(_kept.Count == 0 ? milliseconds : 1);
            if (_kept.Count != 0 && _well == 0 && milliseconds > 0)
                medium.Pass(medium.TakesMs == 0 ? milliseconds : (int)Math.Clamp((_kept.Min(static read => read.ComesAtUs) - medium.NowUs + 999) / 1000, 1, milliseconds));
        }

        public void WakeNobody() => inner.WakeNobody();

        public void Dispose() => inner.Dispose();
    }

    private long NowUs => clock.MonotonicUs;

    private void Pass(int milliseconds)
    {
        Waiting();
        clock.Advance(milliseconds);
    }
}
