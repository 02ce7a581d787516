using System.Globalization;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Media;

namespace Garnet.Aof.Pm;

/// <summary>
/// The rings of a range of persistent memory: after a start, what they hold is put into its files, or the start is refused; then each file
/// of the log that is written before replies gets one.
/// </summary>
public sealed class PmRings : IDisposable
{
    private readonly IPmRange _range;
    private readonly string _path;
    private readonly Stack<PmRing> _free = new();
    private readonly HashSet<PmRing> _serving = [];
    private readonly Lock _gate = new();
    private PmLayout _layout;
    private bool _isComplete;
    private int _kept; // rings that hold what their files could not get
    private bool _isDisposed;

    /// <summary>Rings in a range; <paramref name="trustsEmulated"/>: a range that claims nothing is used as if it were what it stands for.</summary>
    /// <exception cref="GarnetException">Something else stands in it.</exception>
    public PmRings(IPmRange range, string path, bool trustsEmulated)
    {
        ArgumentNullException.ThrowIfNull(range);
        (_range, _path) = (range, path);
        IsUsed = range.Domain.IsRealPm() || trustsEmulated;
        _layout = PmLayout.Read(range, path);
    }

    /// <summary>False: what it holds is put into its files, and nothing new is written to it, because nobody can say that it would outlive the machine.</summary>
    public bool IsUsed { get; }

    /// <summary>What a fence is worth.</summary>
    public PersistenceDomain Domain => _range.Domain;

    /// <summary>It is known to lie in memory that the end of the machine takes.</summary>
    public bool IsMemory => _range.IsMemory;

    /// <summary>Bytes of the range.</summary>
    public long Bytes => _range.Bytes;

    /// <summary>Bytes of the rings that serve files now, and how many of them the files have not got.</summary>
    public (long Bytes, long UsedBytes) Fill
    {
        get
        {
            lock (_gate)
                return (_serving.Sum(static ring => ring.Size), _serving.Sum(static ring => ring.Undrained));
        }
    }

    /// <summary>The file.</summary>
    public string Path => _path;

    /// <summary>For tests.</summary>
    internal PlantedPmFault Fault { get; init; }

    /// <summary>Maps a file for so many rings.</summary>
    /// <exception cref="GarnetException">It cannot be used; the message says what to do.</exception>
    public static PmRings Open(string path, int rings, bool trustsEmulated)
    {
        if (!OperatingSystem.IsLinux())
            throw PmLayout.Refused(path, "persistent memory is mapped on Linux only", "start without it");
        PmRange range = PmRange.Open(path, PmLayout.Bytes + (rings * PmRing.BytesMin));
        try
        {
            return new PmRings(range, path, trustsEmulated);
        }
        catch (GarnetException)
        {
            range.Dispose();
            throw;
        }
    }

    /// <summary>Puts what the rings hold into the files of the directory, before anything of those is read; what was done, for people.</summary>
    /// <exception cref="GarnetException">They hold what belongs elsewhere (<see cref="PmTail"/>).</exception>
    public IReadOnlyList<string> Complete(IDisk disk)
    {
        ArgumentNullException.ThrowIfNull(disk);
        var messages = new List<string>();
        PmRing[] rings = [.. Enumerable.Range(0, _layout.Rings).Select(RingAt)];
        ExpectHeads(rings, disk);
        foreach (PmRing ring in rings)
        {
            long bytes = new PmTail(ring, _path, PmLayout.OwnerIn(_range), Fault).PutInto(disk);
            string many = bytes.ToString("N0", CultureInfo.InvariantCulture);
            if (bytes > 0)
                messages.Add($"{many} bytes that persistent memory held were put into the log.");
        }
        _isComplete = true;
        return messages;
    }

    /// <summary>
    /// So many files will be written side by side: each may have a ring. Nothing is written now; if a file could not get what its ring holds,
    /// everything stays as it is.
    /// </summary>
    /// <exception cref="DiskException">The range cannot be written.</exception>
    public void Divide(int rings, string directory)
    {
        lock (_gate)
        {
            if (!IsUsed || !_isComplete || _serving.Count + _kept > 0 || (_free.Count == rings && _layout.Rings == rings))
                return;
            PmLayout next = PmLayout.Of(rings, _range.Bytes, _layout.Generation + 1);
            if (next.RingBytes < PmRing.BytesMin)
                return; // a primary with more sublogs than there is room for: the files are written as without rings
            for (int i = 0; i < rings; i++)
                PmRing.Clear(_range, next.StartOf(i));
            int error = _range.Fence();
            if (error == 0)
                error = next.Write(_range, directory);
            if (error != 0)
                throw PmRing.Failure("divide", error);
            _layout = next;
            _free.Clear();
            for (int i = 0; i < rings; i++)
                _free.Push(new PmRing(_range, next.StartOf(i), next.RingBytes, Fault));
        }
    }

    /// <summary>A file of the log behind a ring; null if it is none of the log, or no ring is free. The file made is empty and keeps its length.</summary>
    internal PmFile? TryCreate(string name, Func<IDiskFile> make)
    {
        PmRing? ring;
        if (!IsUsed || !LogFileName.TryParse(name, out int sublog, out ulong first))
            return null;
        lock (_gate)
        {
            if (!_free.TryPop(out ring))
                return null;
            _serving.Add(ring);
        }
        IDiskFile? file = null;
        try
        {
            file = make();
            int error = ring.Begin(sublog, first);
            return error == 0 ? new PmFile(file, ring, GiveBack, Fault) : throw PmRing.Failure("begin", error);
        }
        catch (DiskException)
        {
            file?.Dispose();
            GiveBack(ring, isEmpty: true);
            throw;
        }
    }

    /// <summary>Gives the range up, once no file is written any more.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            if (_serving.Count == 0)
                _range.Dispose();
        }
    }

    /// <summary>The error of a start over a ring of which more is damaged than what is left of it shows.</summary>
    internal static GarnetException Damaged(string path, string why) => new(ExitKind.Data,
        $"persistent memory that the log was durable in is damaged: {path}", why,
        "Put the file back as it was; nothing was changed. If there is no copy, keep it, name a file of zeros instead (aof-pm-path), "
            + "and run 'garnet-server repair', which goes on without what it held");

    private PmRing RingAt(int place) => new(_range, _layout.StartOf(place), _layout.RingBytes, Fault);

    // log.R11: a ring that may lack a head may be the one that a file waits for, or another directory's.
    private void ExpectHeads(PmRing[] rings, IDisk disk)
    {
        int lacking = Array.FindIndex(rings, static ring => ring.MayLackHead);
        if (lacking < 0)
            return;
        string which = $"a head of ring {lacking + 1} of {rings.Length} cannot be read";
        if (TailFiles.Awaiting(disk, [.. rings.Select(static ring => ring.Number)]) is { } name)
            throw Damaged(_path, $"{which}, and none says any more that it has the end of {name}");
        if (!PmLayout.IsOwnedBy(_range, disk.Path))
            throw Damaged(_path, $"{which}, and it was used for {PmLayout.OwnerIn(_range)}, whose log may have its end there");
    }

    private void GiveBack(PmRing ring, bool isEmpty)
    {
        lock (_gate)
        {
            _serving.Remove(ring);
            if (isEmpty)
                _free.Push(ring);
            else
                _kept++;
            if (_isDisposed && _serving.Count == 0)
                _range.Dispose();
        }
    }
}
