using Garnet.Common.Bytes;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// Sets scores: the one operation behind ZADD and ZINCRBY. Logged as it came, scores as text: what it does follows from what the set
/// holds, on whoever runs it.
/// </summary>
public unsafe struct SortedSetPut : IEdit, ISortedEdit
{
    private const byte LogsConverted = 32;

    /// <summary>Score, member, score, member …</summary>
    public Operands Pairs;
    /// <summary>
    /// Instead of pairs: distinct members, each behind its raw score, as they come from another collection; no score is written as text to be read
    /// again. They are logged as pairs.
    /// </summary>
    public Operands Scored;
    public PutScore Options;
    public CollectionLimits Limits;
    /// <summary>The set counts as large from now on.</summary>
    public bool Converted;

    public int Added;
    /// <summary>Members whose score was changed.</summary>
    public int Updated;
    public bool WrongKind;
    /// <summary>Members that have kept their score and lost their expiry.</summary>
    private int _cleared;
    /// <summary>The sum is not a number; nothing was changed.</summary>
    public bool NotANumber;
    /// <summary>For a single pair: true if the member has <see cref="Score"/> now by this operation.</summary>
    public bool Applied;
    public double Score;

    public bool MetDue { get; set; }

    public static byte OpId => 23;

    public readonly long EncodedBytesMax =>
        1 + Pairs.EncodedBytes() + Scored.EncodedBytes() + (Scored.Count * (long)(NumberText.DoubleBytesMax + VarInt.BytesMax));

    /// <inheritdoc/>
    public static bool IsAllOrNothing => true;

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.SortedSet;
        if (edit.Exists && !WrongKind)
            MembersAhead.LookToPut(ref edit, EntryForm.Scored, Pairs);
        MetDue = edit.Exists && !WrongKind && AnyDue(ref edit);
        if (WrongKind || MetDue)
            return false;
        if (edit.Exists)
            PagesAhead.Look(ref edit, Pairs, arePairs: true);
        if (!TryCreate(ref edit))
            PutEach(ref edit);
        if (edit.Exists && Converted)
            Root.Raise(ref edit, RootFlags.Converted);
        Converted = edit.Exists && Root.Has(edit.Value, RootFlags.Converted);
        return Added + Updated + _cleared > 0;
    }

    public readonly void RemoveDue(StoreSession store, in KeyRef key) => DueEntries.Remove(store, in key, Pairs);

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)((byte)Options | (Converted ? LogsConverted : 0));
        return 1 + (Scored.Count > 0 ? EncodeScored(to[1..]) : Pairs.Encode(to[1..]));
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.IsEmpty || from[0] >= (byte)PutScore.KeepExpiry * 2)
            return false;
        Options = (PutScore)(from[0] & ~LogsConverted);
        Converted = (from[0] & LogsConverted) != 0;
        Limits = CollectionLimits.Replay;
        return Operands.TryDecode(from[1..], out Pairs) && Pairs.Count > 0 && Pairs.Count % 2 == 0;
    }

    // Writes a set that is not there yet in one go; where a condition has to be looked at, each member is put by itself.
    private bool TryCreate(ref RecordEdit edit)
    {
        if (edit.Exists || (Options & (PutScore.IfAbsent | PutScore.IfPresent | PutScore.IfGreater | PutScore.IfLess | PutScore.Add)) != 0)
            return false;
        bool areRaw = Scored.Count > 0;
        if (areRaw && SortedFill.TryCreatePacked(ref edit, Scored, Limits))
        {
            Added = Scored.Count;
            return true;
        }

        var terms = new FillTerms(ExpireAtMs: 0, AreDistinct: areRaw, AreRaw: areRaw);
        if (!SortedFill.TryCreateLarge(ref edit, areRaw ? Scored : Pairs, Limits, terms, out FillCounts counts))
            return false;
        (Added, Updated) = (counts.Added, counts.Rescored);
        return true;
    }

    private void PutEach(ref RecordEdit edit)
    {
        int done = 0;
        bool areRaw = Scored.Count > 0;
        for (Operands.Reader reader = areRaw ? Scored.Read() : Pairs.Read(); reader.Next(); done++)
        {
            edit.CleanBehind();
            if (!TryPut(ref edit, areRaw ? RankedMember.Of(reader) : RankedMember.OfPair(ref reader)))
                break;
        }

        Scored.Truncate(done);
        Pairs.Truncate(done * 2);
    }

    private readonly int EncodeScored(Span<byte> to)
    {
        Span<byte> text = stackalloc byte[NumberText.DoubleBytesMax];
        fixed (byte* start = to)
        {
            byte* at = start;
            for (Operands.Reader reader = Scored.Read(); reader.Next();)
            {
                RankedMember member = RankedMember.Of(reader);
                at = WriteOne(at, text[..NumberText.WriteDouble(text, member.Score)]);
                at = WriteOne(at, member.Span);
            }

            return (int)(at - start);
        }
    }

    private static byte* WriteOne(byte* at, ReadOnlySpan<byte> bytes)
    {
        at = VarInt.Write(at, (uint)bytes.Length);
        bytes.CopyTo(new Span<byte>(at, bytes.Length));
        return at + bytes.Length;
    }

    // Others that are due stay hidden: they do not change what becomes of these.
    private readonly bool AnyDue(ref RecordEdit edit)
    {
        if (!HiddenRanks.Any(ref edit))
            return false;
        for (Operands.Reader reader = Pairs.Read(); reader.Next();)
        {
            reader.Next();
            if (Members.Find(ref edit, EntryForm.Scored, reader.Bytes, reader.Length, out Entry entry) && entry.IsDue(edit.NowMs))
                return true;
        }

        return false;
    }

    // False if memory ran out or the sum is not a number.
    private bool TryPut(ref RecordEdit edit, RankedMember member)
    {
        Entry found = default;
        bool exists = edit.Exists && Members.Find(ref edit, EntryForm.Scored, member.Member, member.MemberBytes, out found);
        double score = member.Score, old = exists ? found.Score : 0;
        Applied = false;
        if (exists ? (Options & PutScore.IfAbsent) != 0 : (Options & PutScore.IfPresent) != 0)
            return true;
        if ((Options & PutScore.Add) != 0 && exists)
            score += old;
        NotANumber = double.IsNaN(score);
        if (NotANumber)
            return false;
        if (exists && (((Options & PutScore.IfGreater) != 0 && score <= old) || ((Options & PutScore.IfLess) != 0 && score >= old)))
            return true;
        Score = score;
        Applied = true;
        long expireAtMs = (Options & PutScore.KeepExpiry) != 0 ? found.ExpireAtMs : 0;
        if (exists && score == old && expireAtMs == found.ExpireAtMs)
            return true;
        Entry parts = member.PartsWith(&score);
        parts.ExpireAtMs = expireAtMs;
        PutResult result = SortedForm.Put(ref edit, parts, found, Limits);
        Added += result == PutResult.Added ? 1 : 0;
        Updated += result == PutResult.Replaced && score != old ? 1 : 0;
        _cleared += result == PutResult.Replaced && score == old ? 1 : 0;
        return result != PutResult.Failed;
    }
}
