using Garnet.Common.Bytes;
using Garnet.Common.Faults;
using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>The options of SORT, and what they make of the elements.</summary>
internal sealed class SortOrder
{
    private readonly List<byte[]> _gets = [];
    private bool? _looksElsewhere;
    private byte[]? _by;
    private bool _sorts = true;
    private bool _alpha;
    private bool _descending;
    private long _offset;
    private long _count = -1;

    /// <summary>The argument that names the key to store in, 0 for none.</summary>
    internal int StoreAt { get; private set; }

    /// <summary>True if other keys are looked at.</summary>
    internal bool LooksElsewhere => (_by is not null && _sorts) || _gets.Exists(static get => !get.AsSpan().SequenceEqual("#"u8));

    /// <summary>Reads the options; on false the error has been written.</summary>
    internal bool TryParse(ref Call call, bool stores, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = 2; i < call.Count && failed == Reply.Sent; i++)
        {
            int left = call.Count - i - 1;
            if (call.Is(i, "ASC"u8) || call.Is(i, "DESC"u8))
                _descending = call.Is(i, "DESC"u8);
            else if (call.Is(i, "ALPHA"u8))
                _alpha = true;
            else if (left >= 2 && call.Is(i, "LIMIT"u8))
                failed = call.TryInt64(++i, out _offset) && call.TryInt64(++i, out _count) ? Reply.Sent : call.Fail(Fault.NotAnInteger);
            else if (left >= 1 && stores && call.Is(i, "STORE"u8))
                StoreAt = ++i;
            else if (left >= 1 && call.Is(i, "BY"u8))
                failed = SetBy(ref call, ++i);
            else if (left >= 1 && call.Is(i, "GET"u8))
                failed = AddGet(ref call, ++i);
            else
                failed = call.Fail(Fault.Syntax);
        }

        return failed == Reply.Sent;
    }

    /// <summary>The rows of the result; null if something to sort by is no number. What is looked up can be many times what there is.</summary>
    /// <exception cref="TooLargeException">The result, or what it is sorted by, has more bytes than may be.</exception>
    internal List<byte[]?>? Apply(SortPattern lookup, in SortSource source, long bytesMax)
    {
        List<byte[]> elements = source.Elements;
        // A set has no order of its own: what is stored must not depend on how it lies in memory.
        bool sortsByItself = !_sorts && source.Kind == RecordKind.Set && StoreAt > 0;
        if (_sorts || sortsByItself)
        {
            if (Sorted(elements, lookup, sortsByItself || _alpha, sortsByItself ? null : _by) is not { } sorted)
                return null;
            elements = sorted;
        }
        else if (_descending && source.Kind != RecordKind.Set)
        {
            elements.Reverse();
        }

        var rows = new List<byte[]?>();
        long bytes = 0;
        foreach (byte[] element in Limited(elements))
        {
            if (_gets.Count == 0)
                rows.Add(element);
            foreach (byte[] get in _gets)
            {
                rows.Add(lookup.Find(get, element));
                bytes += rows[^1]?.Length ?? 0;
                TooLargeException.Above(bytesMax, bytes, "the result");
            }
        }

        return rows;
    }

    private Reply SetBy(ref Call call, int at)
    {
        bool isPattern = call[at].Contains((byte)'*');
        if (isPattern && !MayLookElsewhere(ref call))
            return call.FailBytes("ERR BY option of SORT denied due to insufficient ACL permissions."u8);
        _by = call[at].ToArray();
        _sorts &= isPattern; // without a star every element has the same: not sorted at all
        return Reply.Sent;
    }

    private Reply AddGet(ref Call call, int at)
    {
        if (!MayLookElsewhere(ref call))
            return call.FailBytes("ERR GET option of SORT denied due to insufficient ACL permissions."u8);
        _gets.Add(call[at].ToArray());
        return Reply.Sent;
    }

    // Asked once for all patterns: each answer is a walk over the arguments.
    private bool MayLookElsewhere(ref Call call) => _looksElsewhere ??= UserRefusals.MayLookElsewhere(ref call);

    private IEnumerable<byte[]> Limited(List<byte[]> elements)
    {
        int start = (int)Math.Clamp(_offset, 0, elements.Count);
        int count = _count < 0 ? elements.Count : (int)Math.Min(_count, elements.Count);
        return elements.Skip(start).Take(count);
    }

    private List<byte[]>? Sorted(List<byte[]> elements, SortPattern lookup, bool alpha, byte[]? by)
    {
        var keyed = new List<(byte[] Element, byte[]? Text, double Number)>(elements.Count);
        long bytes = 0;
        foreach (byte[] element in elements)
        {
            byte[]? text = by is null ? element : lookup.Find(by, element);
            double number = 0;
            if (!alpha && text is not null && !TryNumber(text, out number))
                return null;
            keyed.Add((element, alpha ? text : null, number));
            bytes += alpha && by is not null ? text?.Length ?? 0 : 0;
            TooLargeException.Above(ByteQueue.BytesMax, bytes, "what is sorted by");
        }

        Comparison<(byte[] Element, byte[]? Text, double Number)> compare = alpha
            ? static (a, b) => CompareTexts(a.Text, b.Text)
            : static (a, b) => a.Number != b.Number ? a.Number.CompareTo(b.Number) : a.Element.AsSpan().SequenceCompareTo(b.Element);
        var comparer = Comparer<(byte[] Element, byte[]? Text, double Number)>.Create(compare);
        return [.. (_descending ? keyed.OrderDescending(comparer) : keyed.Order(comparer)).Select(static item => item.Element)];
    }

    private static int CompareTexts(byte[]? a, byte[]? b) =>
        a is null || b is null ? (a is null ? 0 : 1) - (b is null ? 0 : 1) : a.AsSpan().SequenceCompareTo(b);

    // As C's strtod takes it: blanks in front are passed over, and nothing at all is 0.
    private static bool TryNumber(ReadOnlySpan<byte> text, out double number)
    {
        number = 0;
        if (text.IsEmpty || text[0] == 0)
            return true;
        return NumberText.TryDouble(text.TrimStart(" \t\r\n\v\f"u8), out number);
    }
}
