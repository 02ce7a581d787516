using Garnet.Common.Linux;

namespace Tsavorite;

/// <summary>
/// The parts of a cold record that lies in a run of segments, on their way: each is read to where it belongs, so that the record is whole when the last has come,
/// and the checksum goes on with each that has all before it.
/// </summary>
internal sealed unsafe class LongRead(ColdPart[] parts, byte* to, in ColdPlace place)
{
    private readonly bool[] _come = new bool[parts.Length];
    private readonly ColdPlace _place = place;
    private ColdSum _sum;
    private long _summed;
    private int _next, _ended, _checked;

    /// <summary>Bytes to read the parts to.</summary>
    public static long RoomFor(ColdPart[] parts) => parts.Sum(static part => (long)part.ReadBytes);

    /// <summary>Bytes that were read for it until now, or will be.</summary>
    public long ReadBytes { get; private set; }

    /// <summary>True while a part is to be begun: not after one has failed.</summary>
    public bool HasMore => _next < parts.Length && Error == 0;

    /// <summary>True once nothing is under way and nothing will be.</summary>
    public bool IsOver => _ended == _next && !HasMore;

    /// <summary>The error number of a part that failed; 0: none has.</summary>
    public int Error { get; private set; }

    /// <summary>The next part, and where it is read to.</summary>
    public (int Number, ColdPart Part, nint To) Begin()
    {
        int number = _next++;
        nint at = (nint)(to + ReadBytes);
        ReadBytes += parts[number].ReadBytes; // whole pages but for the last: they lie without a gap
        return (number, parts[number], at);
    }

    /// <summary>Nobody waits for it any more: no part is begun, and what comes is not looked at.</summary>
    public void GiveUp() => Error = Libc.ETIMEDOUT;

    /// <summary>A part has come to its end.</summary>
    public void End(int number, int result)
    {
        _ended++;
        if (Error == 0 && result != parts[number].ReadBytes)
            Error = result < 0 ? -result : Libc.EIO;
        _come[number] = true;
        for (; Error == 0 && _checked < parts.Length && _come[_checked]; _checked++)
        {
            if (_checked == 0)
            {
                _sum = _place.Begin(to);
                _sum.AddFirst(to, parts[0].Bytes);
            }
            else
            {
                _sum.Add(to + _summed, parts[_checked].Bytes);
            }
            _summed += parts[_checked].Bytes;
        }
    }

    /// <summary>True if all has come and is a record that was written whole to that place.</summary>
    public bool IsSound(out int bytes)
    {
        bytes = (int)Math.Min(_summed, int.MaxValue);
        bool isWhole = _checked == parts.Length && _summed <= ColdRecord.BytesMax && ColdRecord.IsPossible(to);
        return isWhole && ColdRecord.BytesOf(to) == _summed && *(uint*)to == _sum.Value;
    }
}
