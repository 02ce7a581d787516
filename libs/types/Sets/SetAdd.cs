using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Sets;

/// <summary>Adds members to a set (SADD, SMOVE, and what the …STORE commands found).</summary>
public unsafe struct SetAdd : IEdit
{
    private const byte FormIntegers = 0, FormSmall = 1, FormLarge = 2;

    public Operands Keys;
    public CollectionLimits Limits;
    /// <summary>Members up to which integers are kept as such.</summary>
    public long IntegersMax;
    /// <summary>OBJECT ENCODING calls the set a large one (hashtable) from now on.</summary>
    public bool Converted;
    /// <summary>No member is there twice, as whoever took them from a collection knows. It is not logged: a log is not believed that.</summary>
    public bool AreDistinct;

    /// <summary>Members that were not there before.</summary>
    public int Added;
    public bool WrongKind;
    private byte _form;

    public static byte OpId => 17;

    /// <summary>An addition by the limits that are set.</summary>
    public static SetAdd Of(EncodingSettings settings, in Operands keys) =>
        new() { Keys = keys, Limits = CollectionLimits.OfSets(settings), IntegersMax = settings.SetIntegersMax };

    public readonly long EncodedBytesMax => 1 + Keys.EncodedBytes();

    /// <inheritdoc/>
    public static bool IsAllOrNothing => true;

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Set;
        if (WrongKind)
            return false;
        int done = 0;
        if (IntegerSet.TryCreate(ref edit, Keys, IntegersMax, out Added))
            done = Keys.Count;
        bool hasText = !edit.Exists && HasText();
        var terms = new FillTerms(0, AreDistinct);
        if (hasText && Members.TryCreateLarge(ref edit, MemberShape.Set, Keys, Limits, terms, out Added))
            done = Keys.Count;
        else if (hasText && Members.TryCreatePacked(ref edit, MemberShape.Set, Keys, Limits))
            Added = done = Keys.Count;
        if (done == 0 && edit.Exists)
            MembersAhead.LookToPut(ref edit, EntryForm.Member, Keys);
        for (Operands.Reader reader = Keys.Read(); done < Keys.Count && reader.Next(); done++)
        {
            edit.CleanBehind();
            PutResult result = Add(ref edit, reader.Bytes, reader.Length);
            if (result == PutResult.Failed)
                break;
            Added += result == PutResult.Added ? 1 : 0;
        }

        Keys.Truncate(done);
        bool changed = edit.Exists && SettleForm(ref edit);
        return Added > 0 || changed;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = _form;
        return 1 + Keys.Encode(to[1..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.IsEmpty || from[0] > FormLarge)
            return false;
        _form = from[0];
        Converted = _form == FormLarge;
        Limits = CollectionLimits.Replay;
        IntegersMax = int.MaxValue;
        return Operands.TryDecode(from[1..], out Keys) && Keys.Count > 0;
    }

    private PutResult Add(ref RecordEdit edit, byte* member, int bytes)
    {
        bool isInteger = IntegerSet.TryParse(member, bytes, out long integer);
        if (!edit.Exists && isInteger && IntegersMax > 0)
            return IntegerSet.Create(ref edit, integer);
        var parts = new Entry { Key = member, KeyBytes = bytes };
        if (edit.Exists && Root.Has(edit.Value, RootFlags.Integers))
        {
            if (isInteger && (IntegerSet.Count(edit.Value) < IntegersMax || IntegerSet.Find(edit.Value, integer, out _)))
                return IntegerSet.Add(ref edit, integer);
            if (!IntegerSet.Spell(ref edit))
                return PutResult.Failed;
            Converted |= isInteger; // more members than a set of integers may have: OBJECT ENCODING says hashtable from now on
        }

        return Members.Put(ref edit, MemberShape.Set, parts, Limits);
    }

    // Replay must end with the same form whatever its settings are, so the form is a part of the operation: here it is taken from the set that
    // came about, or, when the operation was read from the log, the set is brought into it. True if that has changed the set.
    private bool SettleForm(ref RecordEdit edit)
    {
        bool changed = false;
        if (_form != FormIntegers && Root.Has(edit.Value, RootFlags.Integers))
            changed = IntegerSet.Spell(ref edit);
        if (Converted && !Root.Has(edit.Value, RootFlags.Converted | RootFlags.Integers))
        {
            Root.Raise(ref edit, RootFlags.Converted);
            changed = true;
        }

        _form = Root.Has(edit.Value, RootFlags.Integers) ? FormIntegers : Root.Has(edit.Value, RootFlags.Converted) ? FormLarge : FormSmall;
        return changed;
    }

    private readonly bool HasText()
    {
        for (Operands.Reader reader = Keys.Read(); reader.Next();)
        {
            if (!IntegerSet.TryParse(reader.Bytes, reader.Length, out _))
                return true;
        }

        return IntegersMax == 0;
    }
}
