using System.Globalization;
using System.Text;
using Garnet.Server.Types.Collections;
using Garnet.Server.Types.Lists;
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
        EntryForm form = record.Kind switch { RecordKind.Set => EntryForm.Member, RecordKind.SortedSet => EntryForm.Scored, _ => EntryForm.Pair };
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
}
