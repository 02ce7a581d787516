using System.Text;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>Everything a namespace holds, as text that can be compared.</summary>
internal static class StoreContent
{
    internal static SortedDictionary<string, string> Of(Store store, uint ns)
    {
        using StoreSession session = store.OpenSession(); // its clock stands at 0: nothing counts as expired
        var collect = new Collect { Found = new SortedDictionary<string, string>(StringComparer.Ordinal) };
        ulong cursor = 0;
        do cursor = session.Scan(ns, cursor, 1000, ref collect);
        while (cursor != 0);
        foreach (string key in collect.Found.Keys.ToArray())
        {
            if (!collect.Found[key].StartsWith(nameof(RecordKind.String), StringComparison.Ordinal)) collect.Found[key] += EntriesOf(store, session, key, ns);
        }

        return collect.Found;
    }

    private static unsafe string EntriesOf(Store store, StoreSession session, string key, uint ns)
    {
        byte[] bytes = [.. Encoding.Latin1.GetBytes(key), .. new byte[32]];
        fixed (byte* start = bytes)
        {
            var content = new CollectionContent();
            KeyRef found = store.Key(start, key.Length, ns);
            session.Examine(in found, ref content);
            return content.Text;
        }
    }

    private struct Collect : IRead
    {
        internal SortedDictionary<string, string> Found;

        public readonly void Look(in RecordView record) => Found[Encoding.Latin1.GetString(record.KeySpan)] =
            $"{record.Kind} expires {record.ExpireAtMs} tag {record.ETag} " +
            (record.Kind == RecordKind.String ? Convert.ToHexString(record.ValueSpan) : "");
    }
}
