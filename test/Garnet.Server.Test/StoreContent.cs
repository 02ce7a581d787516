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
        return collect.Found;
    }

    private struct Collect : IRead
    {
        internal SortedDictionary<string, string> Found;

        public readonly void Look(in RecordView record) => Found[Encoding.Latin1.GetString(record.KeySpan)] =
            $"{record.Kind} expires {record.ExpireAtMs} tag {record.ETag} {Convert.ToHexString(record.ValueSpan)}";
    }
}
