using System.Globalization;
using System.Text;
using Garnet.Server.Blocking;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Garnet.Types.SortedSets;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>What a collection holds, as text that does not depend on how it is kept.</summary>
internal struct CollectionContent : IExamine
{
    internal string Text;

    public unsafe void Look(ref RecordEdit record)
    {
        bool converted = Root.Has(record.Value, RootFlags.Converted);
        Text = string.Create(CultureInfo.InvariantCulture, $"{(converted ? "large" : "small")} {Root.Count(record.Value)}: {string.Join(' ', Entries(ref record))}");
    }

    private static List<string> Entries(ref RecordEdit record)
    {
        if (record.Kind == RecordKind.List) return Elements(ref record);
        if (record.Kind == RecordKind.SortedSet) return Ordered(ref record);
        if (record.Kind == RecordKind.Stream) return Items(ref record);
        EntryForm form = record.Kind == RecordKind.Set ? EntryForm.Member : EntryForm.Pair;
        List<string> entries = [];
        for (var walk = default(MemberWalk); walk.Next(ref record, form);)
        {
            Entry entry = walk.Current;
            entries.Add(string.Create(CultureInfo.InvariantCulture, $"{Convert.ToHexString(entry.KeySpan)}={Convert.ToHexString(entry.ValueSpan)}@{entry.ExpireAtMs}"));
        }

        entries.Sort(StringComparer.Ordinal);
        return entries;
    }

    private static List<string> Elements(ref RecordEdit record)
    {
        List<string> elements = [];
        ListWalk walk = ListWalk.From(ref record, 0);
        while (walk.Next(ref record)) elements.Add(Convert.ToHexString(walk.Span));
        return elements;
    }

    private static List<string> Items(ref RecordEdit record)
    {
        List<string> items = [];
        using var text = new ReplyBuffer();
        for (var contents = default(StreamContents); contents.Next(ref record, text.Begin(resp3: false));)
            items.Add(Encoding.Latin1.GetString(text.Take()).Replace("\r\n", " ", StringComparison.Ordinal));
        return items;
    }

    // Both parts of a sorted set hold the same, and the order is one.
    private static unsafe List<string> Ordered(ref RecordEdit record)
    {
        List<string> elements = [];
        var walk = default(SortedWalk);
        walk.Begin(ref record, 0, default);
        for (double last = double.NegativeInfinity; walk.Next(ref record); last = walk.Score)
        {
            Assert.That(walk.Score, Is.GreaterThanOrEqualTo(last));
            Assert.That(Members.Find(ref record, EntryForm.Scored, walk.Member, walk.MemberBytes, out Entry entry), Is.True);
            Assert.That(entry.Score, Is.EqualTo(walk.Score));
            elements.Add(string.Create(CultureInfo.InvariantCulture, $"{Convert.ToHexString(walk.Span)}={walk.Score:R}@{entry.ExpireAtMs}"));
        }

        Assert.That(elements, Has.Count.EqualTo((int)Root.Count(record.Value)));
        return elements;
    }
}
