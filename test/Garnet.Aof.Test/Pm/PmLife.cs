using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Pm;
using Garnet.Aof.Test.Disk;

namespace Garnet.Aof.Test.Pm;

/// <summary>
/// One file of the log behind a ring, written by a script on a machine that may go down at every step, and what comes back of it. What was
/// synced must be in the file afterwards, byte by byte; behind it only what was written, or nothing.
/// </summary>
internal sealed class PmLife
{
    /// <summary>A letter of a script: writes of one, two and three lines, one of a few bytes more, a sync, a drain, a drain while somebody writes and syncs.</summary>
    public const string Letters = "12ftsdb";
    public const int RingBytes = PmRing.HeadBytes + (16 * PmSim.Line);
    private const int FileBytes = FileHeader.Bytes + 8192, FewBytes = 64 + 9;
    private const ulong First = 7;

    private readonly PlantedPmFault _fault;
    private readonly byte[] _written = new byte[FileBytes];
    private long _end = FileHeader.Bytes, _promised = FileHeader.Bytes;

    /// <summary>The memory begins with bytes that stood there before.</summary>
    public PmLife(int seed, PlantedPmFault fault = PlantedPmFault.None, bool flushes = true)
    {
        _fault = fault;
        byte[] before = new byte[RingBytes];
        new Random(seed).NextBytes(before.AsSpan(PmRing.HeadBytes));
        new Random(seed).NextBytes(_written);
        Pm = new PmSim(before) { Flushes = flushes };
        Name = LogFileName.Of(0, First);
    }

    public string Name { get; }
    public PmSim Pm { get; }
    public SimulatedDisk Disk { get; } = new();
    public long Promised => _promised;
    public long End => _end;

    /// <summary>Runs the script; <paramref name="look"/> is called wherever the machine may go down.</summary>
    public void Run(string script, Action look)
    {
        var ring = new PmRing(Pm, 0, RingBytes, _fault);
        ring.Begin(0, First, number: 99);
        var disk = new Besides(Disk.Create(Name, FileBytes));
        using var file = new PmFile(disk, ring, static (_, _) => { }, _fault);
        byte[] header = new byte[FileHeader.Bytes];
        Header.Write(header);
        file.LeaveAs(header);
        (Header with { HasTail = true, Run = PmRing.Run, TailNumber = ring.Number }).Write(header);
        file.Write(0, header);
        file.Sync();
        Disk.SyncDirectory();
        Pm.OnStep = disk.Look = look;
        foreach (char letter in script)
        {
            if (letter == 'b') disk.OnSync = () => Steps(file, "1s");
            Step(file, letter == 'b' ? 'd' : letter);
            disk.OnSync = null;
            look();
        }
        file.Finish();
        look();
        Pm.OnStep = disk.Look = null;
    }

    /// <summary>What comes back of the disk and the memory; null = what must, else what is wrong.</summary>
    public string? Recover(SimulatedDisk disk, PmSim pm)
    {
        _ = new PmTail(new PmRing(pm, 0, RingBytes, _fault), "pm", "here", _fault).PutInto(disk);
        using IDiskFile file = disk.Open(Name);
        return TailFiles.TryHeader(file, out FileHeader header) && header.HasTail ? "its header still asks for the ring" : FaultOf(disk);
    }

    /// <summary>What is wrong with the file; null = nothing.</summary>
    public string? FaultOf(SimulatedDisk disk)
    {
        byte[] found = disk.Get(Name);
        int begin = FileHeader.Bytes, same = found.AsSpan(begin..(int)_end).CommonPrefixLength(_written.AsSpan(begin..(int)_end));
        if (begin + same == _end && !found.AsSpan((int)_end..FileBytes).ContainsAnyExcept((byte)0)) return null;
        for (int at = begin + same; at < FileBytes; at++)
        {
            bool isAsWritten = at < _end && found[at] == _written[at];
            if (!isAsWritten && (at < _promised || found[at] != 0)) return $"byte {at} is {found[at]}; up to {_promised} was synced, up to {_end} written";
        }
        return null;
    }

    private static FileHeader Header => new() { Sublog = 0, Sublogs = 1, FirstBatch = First, Term = 1, Lanes = 8, HashSeed = 5, PreviousCrc = 0 };

    private void Steps(PmFile file, string script)
    {
        foreach (char letter in script) Step(file, letter);
    }

    private void Step(PmFile file, char letter)
    {
        switch (letter)
        {
            case 's':
                file.Sync();
                _promised = _end;
                break;
            case 'd':
                file.Drain();
                break;
            default:
                int bytes = letter switch { '1' => PmSim.Line, '2' => 2 * PmSim.Line, 't' => 3 * PmSim.Line, _ => FewBytes };
                long at = _end;
                _end += bytes; // some of it may come before the write returns
                file.Write(at, _written.AsSpan((int)at, bytes));
                break;
        }
    }

    // While the file is synced somebody else does something.
    private sealed class Besides(IDiskFile inner) : IDiskFile
    {
        public Action? OnSync { get; set; }
        public Action? Look { get; set; }
        public long Length => inner.Length;
        public int Alignment => 1;
        public int Read(long offset, Span<byte> to) => inner.Read(offset, to);
        public void SetLength(long bytes) => inner.SetLength(bytes);
        public void Dispose() => inner.Dispose();

        public void Write(long offset, ReadOnlySpan<byte> bytes)
        {
            inner.Write(offset, bytes);
            Look?.Invoke();
        }

        public void Sync()
        {
            Action? beside = OnSync;
            OnSync = null;
            inner.Sync();
            Look?.Invoke();
            beside?.Invoke();
        }
    }
}
