using Garnet.Common.Linux;

namespace Tsavorite;

/// <summary>A cold record that is wanted, on its way, or there.</summary>
internal sealed unsafe class ColdRead(ulong word)
{
    public const int SlackBytes = 64;
    /// <summary>Its name (<see cref="ColdAddress.Name"/>).</summary>
    public readonly ulong Word = word;
    /// <summary>The life of the segment (its generation) when it was pinned: what is read counts only while the segment has that life (store.C3).</summary>
    public ulong Life;
    public ColdReadState State;
    /// <summary>The segment is pinned: until the device has read it, and where nothing is copied, until it is given up.</summary>
    public bool IsPinned;
    public int Bytes, Skip, RecordBytes, Error;
    /// <summary>Steps that were put off for it and have not been done again (<see cref="ColdWait"/>): it is kept for them.</summary>
    public int Awaited;
    /// <summary>What tells the last of them from others.</summary>
    public long AwaitedIn = -1;
    /// <summary>Of those, steps that are to be done again before the next look at the device; and how many of them have been past it since.</summary>
    public int Returning, Returned;
    /// <summary>The step that has waited for longest needs it: it stays until that has been done again, and is read before others (<see cref="StepWaits"/>).</summary>
    public bool IsHeld;
    /// <summary>A walk has come past it, and does not come again.</summary>
    public bool IsPassed;
    /// <summary>Which step has come to it last, of those that needed more than was there: what one needs is kept together, however much it is.</summary>
    public long NeededIn;
    /// <summary>Which of these has needed more than its head last.</summary>
    public long ValueNeededIn = -1;
    /// <summary>The step in which it came.</summary>
    public long CameIn;
    /// <summary>Segments that it lies in, and what is read for it at the most, looked at once: where the word is of the past, the segment may be another's by now.</summary>
    public int Parts;
    /// <inheritdoc cref="Parts"/>
    public long BytesMax;
    /// <summary>Where it is read to; of one in several segments, where it stays.</summary>
    public nint To;
    /// <summary>Its parts, if it lies in several segments and has been begun.</summary>
    public LongRead? Long;
    public bool IsLong => Parts > 1;
    /// <summary>A walk has asked for it before it comes to it, and nobody else has: what somebody needs does not stand behind it.</summary>
    public bool IsAhead;
    /// <summary>Where it stands among those that the device has not got yet; in no list once it has it.</summary>
    public LinkedListNode<ColdRead>? QueuedAt;
    /// <summary>Somebody asks for its value. Until it has come; what nobody has asked for by then is not kept.</summary>
    public bool IsWanted;
    /// <summary>Whoever waited for it has given it up before the device had it: it is not read, unless somebody comes to it first.</summary>
    public bool IsInVain;
    /// <summary>The value was not kept: there is what stands before it alone (<see cref="ColdRecord.HeadBytes"/>).</summary>
    public bool IsHead;
    /// <summary>Nobody had asked for its value when it came: it is counted as a head, also where all of it was kept, as it is so short.</summary>
    public bool IsAmongHeads;
    /// <summary>It was read as a whole and is not what was written: another read would bring no more, as it might of a device that fails.</summary>
    public bool IsDamaged => State == ColdReadState.Failed && Error == 0;
    /// <summary>The tier's.</summary>
    public TierSecret Secret;
    /// <summary>What tells where it lies from all other places, and uses of that.</summary>
    public ColdPlace Place => new(Life, ColdAddress.Offset(Word), Secret);
    public byte* Record;
    /// <summary>It has not been given up.</summary>
    public bool HasRecord => Record != null;
    /// <summary>It has come, and was given up since.</summary>
    public bool IsGone => State == ColdReadState.Ready && !HasRecord;
    /// <summary>The turn that has looked at it last, where turns are told from each other.</summary>
    public long UsedBy;
    /// <summary>It lies in persistent memory, and is read there: nothing was copied.</summary>
    public bool IsInPlace;
    /// <summary>When it was handed to the device, by <see cref="ColdTier.NowUs"/>; and when a part of it was, or came, last.</summary>
    public long BegunAtUs, AliveAtUs;
    /// <summary>It was asked for while the device owed others, and shows whether it answers.</summary>
    public bool IsProbe;
    /// <summary>Nobody waits for it any more: it stands for what the device owes (store.C12).</summary>
    public bool IsOwedByDevice;
    /// <summary>The step that has counted a look at it last; and that step, which was put off then, does so again.</summary>
    public long CountedIn;
    public bool IsOwed;
    /// <summary>The step that has waited for it in place for as long as it may (<see cref="HeldPatience.GiveUp"/>): to that one it is an error, though it is under way.</summary>
    public long RefusedIn = -1;
    /// <summary>When it was first seen to have come.</summary>
    public long KeptSinceMs;
    /// <summary>The device has not brought it in time, or would not, or has not brought it yet to somebody who had less: it may still be read another time.</summary>
    public bool IsLate => State == ColdReadState.Failed ? Error == Libc.ETIMEDOUT : State <= ColdReadState.UnderWay && RefusedIn >= 0;

    /// <summary>The length of the record in what the device has read of a short one; false if it is none (store.C4), and why, 0 if all came.</summary>
    public bool TryMeasure(int result, out int bytes, out int error)
    {
        bytes = 0;
        error = result < 0 ? -result : result == Bytes ? 0 : Libc.EIO;
        return result == Bytes && IsRecord((byte*)To + Skip, Bytes - Skip, out bytes);
    }

    /// <summary>True if the bytes are what was written there (store.C4), and how many of them.</summary>
    public bool IsRecord(byte* image, int room, out int bytes) =>
        ColdRecord.TryMeasure(image, room, Place, out bytes) && ColdRecord.IsOf(Word, image);

    /// <summary>A look of the step has come to it, which may need no more than its head; false if it needs more than was kept.</summary>
    public bool Serves(bool headsDo, long step)
    {
        IsInVain = false;
        IsWanted |= !headsDo;
        ValueNeededIn = headsDo ? ValueNeededIn : step;
        return headsDo || !IsHead;
    }

    /// <summary>Bytes of what stands before its value, of what is there.</summary>
    public long HeadBytes => HasRecord ? Math.Min(RecordBytes, ColdRecord.HeadBytes(Record)) : 0;

    /// <summary>Bytes that are kept of the record, whose first byte is there: all, or its head where nobody wants its value.</summary>
    public int KeptBytes(byte* from, int bytes) => IsWanted ? bytes : (int)ColdRecord.HeadBytes(from);

    /// <summary>Copies so many of the record's bytes to where they stay, which has as much room and some slack.</summary>
    public void Keep(nint to, byte* from, int kept)
    {
        IsHead = kept < ColdRecord.BytesOf(from);
        IsAmongHeads = !IsWanted;
        Record = (byte*)to;
        (RecordBytes, State) = (kept, ColdReadState.Ready);
        new ReadOnlySpan<byte>(from, kept).CopyTo(new Span<byte>(Record, kept));
        new Span<byte>(Record + kept, SlackBytes).Clear();
    }
}
