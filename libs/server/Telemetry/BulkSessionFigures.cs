namespace Garnet.Server.Telemetry;

/// <summary>Figures of values that go beside the connection, under the names that BULK.INFO has.</summary>
internal static class BulkSessionFigures
{
    private static readonly FigureList List = Declare();

    internal static IReadOnlyList<Figure> All => List.All;

    private static FigureList Declare()
    {
        var list = new FigureList();
        list.Gauge(
            "sessions", "garnet_bulk_sessions", "Sessions of clients whose values go beside their connections.",
            static m => m.Server.Bulk.Count);
        list.Gauge(
            "transfers-running", "garnet_bulk_transfers_running", "Transfers under way.", static m => m.Server.Bulk.Budget.Operations);
        list.Gauge("bytes-running", "garnet_bulk_running_bytes", "Bytes of transfers under way.", static m => m.Server.Bulk.Budget.Bytes);
        list.Counter("transfers-done", "garnet_bulk_transfers_total", "Transfers done.", static m => m.Server.Bulk.Moved);
        list.Counter(
            "transfers-failed", "garnet_bulk_transfers_failed_total", "Transfers that failed.", static m => m.Server.Bulk.Failures);
        list.Counter("bytes-read", "garnet_bulk_read_bytes_total", "Bytes read from memory of clients.", static m => m.Server.Bulk.BytesIn);
        list.Counter(
            "bytes-written", "garnet_bulk_written_bytes_total", "Bytes written to memory of clients.", static m => m.Server.Bulk.BytesOut);
        list.Counter(
            "values-placed", "garnet_bulk_values_placed_total", "Values that lie where they were received.",
            static m => m.Server.Bulk.Placed);
        list.Counter(
            "sessions-lost", "garnet_bulk_sessions_lost_total", "Sessions that ended while something still had their memory.",
            static m => m.Server.Bulk.Lost);
        list.Gauge(
            "sessions-held", "garnet_bulk_sessions_held", "Lost sessions whose memory something still has.",
            static m => m.Server.Bulk.Held);
        return list;
    }
}
