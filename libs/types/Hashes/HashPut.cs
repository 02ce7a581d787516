using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Hashes;

/// <summary>
/// Sets fields of a hash: the one operation behind HSET and its relatives. Conditions and sums are worked out on the primary; what
/// is logged is fields and values as they were set.
/// </summary>
public unsafe struct HashPut : IEdit
{
    private const byte LogsConverted = 1, LogsExpiry = 2;

    public Operands Pairs;
    public PutMode Mode;
    /// <summary>Keeps the expiry of a field that is there.</summary>
    public bool KeepExpiry;
    public long ExpireAtMs;
    public long By;
    /// <summary>What was read, null if there was nothing.</summary>
    public byte* Expected;
    public int ExpectedBytes;
    public CollectionLimits Limits;
    /// <summary>The hash counts as large from now on, whatever is set; afterwards, whether it does.</summary>
    public bool Converted;
    /// <summary>No field is there twice, as whoever took them from a collection knows. It is not logged: a log is not believed that.</summary>
    public bool AreDistinct;

    /// <summary>Fields that were not there before.</summary>
    public int Added;
    /// <summary>Pairs that were set.</summary>
    public int Applied;
    public bool WrongKind;
    /// <summary>Why an addition was refused.</summary>
    public Fault Refusal;
    public long Sum;
    private Arg _field;
    private Arg _sumText;
    private fixed byte _digits[NumberText.Int64BytesMax + 12];

    public static byte OpId => 15;

    public readonly long EncodedBytesMax => 9 + Pairs.EncodedBytes();

    /// <inheritdoc/>
    public static bool IsAllOrNothing => true;

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Hash;
        if (WrongKind || (Mode != PutMode.Always && !Prepare(ref edit)))
            return false;
        if (Mode == PutMode.Always && ExpireAtMs == 0 && Members.TryCreatePacked(ref edit, MemberShape.Hash, Pairs, Limits))
            Applied = Added = Pairs.Count / 2;
        var terms = new FillTerms(ExpireAtMs, AreDistinct);
        if (Applied == 0 && Members.TryCreateLarge(ref edit, MemberShape.Hash, Pairs, Limits, terms, out Added))
            Applied = Pairs.Count / 2;
        if (Applied == 0 && edit.Exists)
            MembersAhead.LookToPut(ref edit, EntryForm.Pair, Pairs);
        for (Operands.Reader reader = Pairs.Read(); Applied < Pairs.Count / 2 && reader.Next(); Applied++)
        {
            edit.CleanBehind();
            var parts = new Entry { Key = reader.Bytes, KeyBytes = reader.Length, ExpireAtMs = ExpireAtMs };
            reader.Next();
            parts.Value = reader.Bytes;
            parts.ValueBytes = reader.Length;
            bool due = edit.Exists && Root.Has(edit.Value, RootFlags.Expiring) && IsDue(ref edit, parts);
            PutResult result = Members.Put(ref edit, MemberShape.Hash, parts, Limits);
            if (result == PutResult.Failed)
                break;
            Added += due || result == PutResult.Added ? 1 : 0;
        }

        Pairs.Truncate(Applied * 2);
        if (Applied == 0)
            return false;
        if (ExpireAtMs != 0)
            Root.Raise(ref edit, RootFlags.Expiring);
        if (Converted)
            Root.Raise(ref edit, RootFlags.Converted);
        Converted = Root.Has(edit.Value, RootFlags.Converted);
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)((Converted ? LogsConverted : 0) | (ExpireAtMs != 0 ? LogsExpiry : 0));
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], ExpireAtMs);
        int head = ExpireAtMs != 0 ? 9 : 1;
        return head + Pairs.Encode(to[head..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 1 || from[0] > (LogsConverted | LogsExpiry) || ((from[0] & LogsExpiry) != 0 && from.Length < 9))
            return false;
        Converted = (from[0] & LogsConverted) != 0;
        bool expires = (from[0] & LogsExpiry) != 0;
        ExpireAtMs = expires ? BinaryPrimitives.ReadInt64LittleEndian(from[1..]) : 0;
        Limits = CollectionLimits.Replay;
        return Operands.TryDecode(from[(expires ? 9 : 1)..], out Pairs) && Pairs.Count > 0 && Pairs.Count % 2 == 0;
    }

    private static bool IsDue(ref RecordEdit edit, in Entry parts) =>
        Members.Find(ref edit, EntryForm.Pair, parts.Key, parts.KeyBytes, out Entry old) && old.IsDue(edit.NowMs);

    // Looks at the only field there is to set; false if nothing is to be done.
    private bool Prepare(ref RecordEdit edit)
    {
        Operands.Reader reader = Pairs.Read();
        reader.Next();
        bool exists = edit.Exists && Members.Find(ref edit, EntryForm.Pair, reader.Bytes, reader.Length, out Entry old)
            && !old.IsDue(edit.NowMs)
            ? Hold(old, out old)
            : Hold(default, out old);
        if (KeepExpiry)
            ExpireAtMs = old.ExpireAtMs;
        switch (Mode)
        {
            case PutMode.IfAbsent:
                return !exists;
            case PutMode.IfUnchanged:
                return exists == (Expected != null) && old.ValueSpan.SequenceEqual(new ReadOnlySpan<byte>(Expected, ExpectedBytes));
            default:
                return TryAdd(exists, old, reader);
        }
    }

    private static bool Hold(in Entry entry, out Entry held)
    {
        held = entry;
        return entry.Start != null;
    }

    private bool TryAdd(bool exists, in Entry old, in Operands.Reader field)
    {
        long before = 0;
        Refusal = Fault.HashValueNotAnInteger;
        if (exists && !NumberText.TryInt64(old.ValueSpan, out before))
            return false;
        Refusal = Fault.IncrementOverflow;
        Sum = unchecked(before + By);
        if (((before ^ Sum) & (By ^ Sum)) < 0)
            return false;
        // The pair to be set and logged is made of the field and the digits; the operation stands on its caller's stack.
        byte* digits = (byte*)Unsafe.AsPointer(ref _digits[0]);
        _field = new Arg { Bytes = field.Bytes, Length = field.Length };
        _sumText = new Arg { Bytes = digits, Length = (int)(NumberText.Write(digits, Sum) - digits) };
        Pairs = new Operands((Arg*)Unsafe.AsPointer(ref _field), 2);
        return true;
    }
}
