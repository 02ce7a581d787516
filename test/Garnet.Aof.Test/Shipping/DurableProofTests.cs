using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Reading;
using Garnet.Aof.Test.Writing;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Shipping;

/// <summary>Files of received batches say what of them this disk has (log.W11): what is damaged before that is damage, not an interrupted write.</summary>
public sealed class DurableProofTests
{
    private const int Batches = 60;

    [Test]
    public void A_damaged_middle_of_received_batches_is_refused_after_a_stop_in_order([Values] SyncPolicy sync, [Values(1, 30, Batches - 1)] int batch)
    {
        using Pair pair = new(sync);
        pair.Write(Batches);
        pair.Ship();
        pair.FollowerLog.Stop();
        RefusedAt(pair, (ulong)batch, Flip(pair, (ulong)batch));
    }

    [Test]
    public void A_damaged_middle_is_refused_after_a_crash_as_far_as_it_was_synced()
    {
        using Pair pair = new(SyncPolicy.Always);
        pair.Write(Batches);
        pair.Ship();
        RefusedAt(pair, Batches - 4, Flip(pair, Batches - 4));
    }

    [Test]
    public void A_log_that_rests_for_a_second_has_said_so_of_all_of_it()
    {
        using Pair pair = new();
        pair.Write(Batches);
        pair.Ship();
        for (int second = 0; second < 4; second++)
        {
            pair.Clock.Advance(1_000_000);
            foreach (Garnet.Aof.Writing.Sublog sublog in pair.FollowerLog.Sublogs) sublog.Turn();
        }
        int syncs = pair.FollowerDisk.Syncs;
        pair.Clock.Advance(10_000_000);
        foreach (Garnet.Aof.Writing.Sublog sublog in pair.FollowerLog.Sublogs) sublog.Turn();
        Assert.That(pair.FollowerDisk.Syncs, Is.EqualTo(syncs), "once is enough");
        RefusedAt(pair, Batches, Flip(pair, Batches));
    }

    [Test]
    public void Received_batches_that_are_whole_end_without_a_cut([Values] SyncPolicy sync, [Values(12 << 10, 1 << 20)] int segmentBytes)
    {
        using Pair pair = new(sync, segmentBytes);
        pair.Write(Batches);
        pair.Ship();
        pair.FollowerLog.Stop();
        using TestStore again = new();
        RecoveryReport report = again.Recover(DataDirectory.OpenUnlocked(pair.FollowerDisk, new DirectoryLayout(8, Pair.Sublogs)));
        Assert.That((report.WasCut, report.Start.Term, report.Start.LastBatch), Is.EqualTo((false, 1u, (ulong)Batches)));
        Assert.That(report.Messages, Has.None.Contains("interrupted"));
        Assert.That(again.Text(), Is.EqualTo(pair.Primary.Text()));
    }

    [Test]
    public void What_ends_behind_the_last_proof_is_an_interrupted_write()
    {
        using Pair pair = new(SyncPolicy.No);
        pair.Write(Batches);
        pair.Ship();
        Flip(pair, 50);
        using TestStore again = new();
        RecoveryReport report = again.Recover(DataDirectory.OpenUnlocked(pair.FollowerDisk, new DirectoryLayout(8, Pair.Sublogs)));
        Assert.That((report.WasCut, report.Start.LastBatch), Is.EqualTo((true, 49ul)));
    }

    [Test]
    public void Files_of_the_version_before_hold_no_proofs_and_are_read()
    {
        using Pair pair = new(SyncPolicy.No);
        pair.Write(Batches);
        pair.Ship();
        foreach (string name in pair.FollowerDisk.List().Where(static name => name.EndsWith(".log", StringComparison.Ordinal)))
        {
            byte[] header = pair.FollowerDisk.Bytes(name)[..FileHeader.Bytes];
            Assert.That(header[4], Is.EqualTo(2));
            header[4] = 1;
            BitConverter.TryWriteBytes(header.AsSpan(36), Crc32C.Of(header.AsSpan(0, 36)));
            using IDiskFile file = pair.FollowerDisk.Open(name);
            file.Write(0, header);
        }
        using TestStore again = new();
        Assert.That(again.Recover(DataDirectory.OpenUnlocked(pair.FollowerDisk, new DirectoryLayout(8, Pair.Sublogs))).Start.LastBatch, Is.EqualTo(Batches));
    }

    [Test]
    public void A_proof_is_read_as_it_was_written_and_no_changed_one_is()
    {
        var proof = new DurableProof { Sublog = 1, Sublogs = 3, Batch = ulong.MaxValue - 7, Term = 9, PreviousCrc = 0xFEDCBA98 };
        byte[] bytes = new byte[DurableProof.Bytes];
        proof.Write(bytes);
        Assert.That(DurableProof.TryRead(bytes, out DurableProof read) && read == proof);
        for (int i = 0; i < bytes.Length; i++)
        {
            bytes[i] ^= 4;
            Assert.That(DurableProof.TryRead(bytes, out _), Is.False, $"byte {i}");
            bytes[i] ^= 4;
        }
    }

    // One bit of the batch's part in the first sublog.
    private static string Flip(Pair pair, ulong batch)
    {
        foreach (string name in pair.FollowerDisk.List().Where(static name => name.StartsWith("aof-00", StringComparison.Ordinal)))
        {
            byte[] bytes = pair.FollowerDisk.Bytes(name);
            for (int at = FileHeader.Bytes; at + BatchHeader.Bytes <= bytes.Length; at += BatchHeader.Bytes)
            {
                if (BatchHeader.TryRead(bytes.AsSpan(at), out BatchHeader header, out _) != HeaderState.Whole || header.Batch != batch) continue;
                bytes[at + 33] ^= 1;
                using IDiskFile file = pair.FollowerDisk.Open(name);
                file.Write(at, bytes.AsSpan(at, BatchHeader.Bytes));
                return name;
            }
        }
        throw new InvalidOperationException("the batch is nowhere");
    }

    private static void RefusedAt(Pair pair, ulong batch, string file)
    {
        using TestStore again = new();
        string[] before = [.. pair.FollowerDisk.List()];
        byte[] bytes = pair.FollowerDisk.Bytes(file);
        DataDirectory directory = DataDirectory.OpenUnlocked(pair.FollowerDisk, new DirectoryLayout(8, Pair.Sublogs));
        var refused = Assert.Throws<GarnetException>(() => again.Recover(directory))!;
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Data));
        Assert.That(refused.Message, Does.Contain($"batch {batch}").And.Contain(file).And.Contain("was durable"));
        Assert.That(pair.FollowerDisk.List(), Is.EqualTo(before));
        Assert.That(pair.FollowerDisk.Bytes(file), Is.EqualTo(bytes));
    }
}
