using System.Text;

namespace Tsavorite.Test.Interleaving;

/// <summary>A snapshot from cut to end, one bucket in a lock hold; it saw the cut, every record as often as it came.</summary>
internal sealed unsafe class SnapshotAct : ISnapshotSink
{
    private readonly List<string> _records = [];

    public static string Run(Stage stage, int thread)
    {
        SnapshotAct act = new();
        using StoreSnapshot snapshot = stage.Store.BeginSnapshot(new SnapshotOptions { BucketsPerHold = 1 });
        while (snapshot.Step(act)) { }
        act._records.Sort(StringComparer.Ordinal);
        return $"{snapshot.State} {string.Join(' ', act._records)}";
    }

    public void Write(ReadOnlySpan<byte> block, int records)
    {
        fixed (byte* start = block)
            for (byte* next = start; SnapshotRecord.TryRead(next, start + block.Length, out LoadRecord record); next += record.Bytes)
                _records.Add(Text(record));
    }

    private static string Text(in LoadRecord record)
    {
        string key = Encoding.ASCII.GetString(record.Key, record.KeyBytes);
        string value = Encoding.ASCII.GetString(record.Value, record.ValueBytes);
        return $"{key}={string.Concat(value.Distinct())}{value.Length}@{record.ExpireAtMs}";
    }
}
