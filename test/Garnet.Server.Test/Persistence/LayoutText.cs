using System.Buffers.Binary;
using System.Globalization;
using System.Reflection;
using System.Security.Cryptography;
using System.Text;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// What a server makes of commands, byte by byte: a line for each record of a snapshot (website/docs/format/snapshot.md), and one for what each operation
/// has in the log. The same for the same layout: time stands still, and owner numbers, by which entries are hashed, begin at the same one.
/// </summary>
internal static class LayoutText
{
    private const int HeaderBytes = 12, FieldBytes = 8, PieceKeyBytes = 12;

    public static string OfToday(Action<TestClient> fill)
    {
        var log = new RecordingLog();
        using EmbeddedServer server = new(log, clock: new StandingClock());
        using TestClient client = new(server.Server.Port);
        BeginOwners(server.Server.Store);
        fill(client);
        var records = new Records();
        using (StoreSnapshot snapshot = server.Server.Store.BeginSnapshot())
        {
            while (snapshot.Step(records))
            {
                // until all of it is there
            }
        }

        return string.Concat(records.Lines.Order(StringComparer.Ordinal).Concat(OfOperations(log)).Select(static line => line + "\n"));
    }

    // Random in a server, so that nobody foresees where entries lie.
    private static void BeginOwners(Store store)
    {
        object core = typeof(Store).GetProperty("Core", BindingFlags.Instance | BindingFlags.NonPublic)?.GetValue(store)
            ?? typeof(Store).GetField("Core", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(store)!;
        core.GetType().GetField("_owners", BindingFlags.Instance | BindingFlags.NonPublic)!.SetValue(core, 1000ul);
    }

    private static IEnumerable<string> OfOperations(RecordingLog log) => log.Entries().GroupBy(static entry => entry.OpId).OrderBy(static entries => entries.Key)
        .Select(static entries =>
        {
            byte[] arguments = [.. entries.SelectMany(static entry => entry.Arguments.ToArray())];
            return string.Create(CultureInfo.InvariantCulture, $"operation {entries.Key}: {entries.Count()} times, {arguments.Length} bytes, {Digest(arguments)}");
        });

    private static string Digest(ReadOnlySpan<byte> bytes) => Convert.ToHexStringLower(SHA256.HashData(bytes).AsSpan(0, 8));

    private sealed class StandingClock : IClock
    {
        public long MonotonicUs => SystemClock.Instance.MonotonicUs;

        public long UnixUs => UnixMs * 1000;

        public long UnixMs => 1_790_000_000_000;
    }

    private sealed class Records : ISnapshotSink
    {
        public List<string> Lines { get; } = [];

        public void Write(ReadOnlySpan<byte> block, int records)
        {
            for (; records > 0; records--)
                block = block[Add(block)..];
            Assert.That(block.IsEmpty);
        }

        // The owner, which the key of a piece begins with, is left out.
        private int Add(ReadOnlySpan<byte> record)
        {
            int valueBytes = BinaryPrimitives.ReadInt32LittleEndian(record), keyBytes = BinaryPrimitives.ReadUInt16LittleEndian(record[4..]);
            int kind = record[6], fields = (record[7] & 1) + (record[7] >> 1 & 1) + (record[7] >> 3 & 1);
            ReadOnlySpan<byte> key = record.Slice(HeaderBytes + (fields * FieldBytes), keyBytes), value = record.Slice(HeaderBytes + (fields * FieldBytes) + keyBytes, valueBytes);
            bool isPiece = (record[7] & 4) != 0;
            string name = Encoding.Latin1.GetString(isPiece ? key[PieceKeyBytes..] : key);
            string piece = isPiece ? string.Create(CultureInfo.InvariantCulture, $", piece {BinaryPrimitives.ReadUInt32LittleEndian(key[FieldBytes..]):D4}") : "";
            Lines.Add(string.Create(CultureInfo.InvariantCulture, $"{name}{piece}: kind {kind}, flags {record[7]}, {valueBytes} bytes, {Digest(value)}"));
            return HeaderBytes + (fields * FieldBytes) + keyBytes + valueBytes;
        }
    }
}
