using Garnet.Aof;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Replication.Test;

/// <summary>Frames: what was written is read, and nothing else is.</summary>
public sealed class FrameTests
{
    private static readonly PlanFrame Plan = new()
    {
        IsFull = true, At = new LogPosition(7, 123_456_789_012, [1, 0xFFFFFFFF, 3]), Term = 8, Lanes = 64, HashSeed = ulong.MaxValue - 1,
        StartedUnixUs = 1_790_000_000_000_000, Fork = ulong.MaxValue, HistoryId = new string('a', 40), Path = [new string('0', 40), new string('9', 40)],
        Terms = [new TermStart(6, 100, 5), new TermStart(7, 200, 6) { Owner = 0xFEDCBA98 }],
    };

    [Test]
    public void A_plan_is_read_as_it_was_written()
    {
        PlanFrame read = PlanFrame.TryDecode(Plan.Encode())!;
        Assert.That(read.At.Is(Plan.At));
        Assert.That(read.Path, Is.EqualTo(Plan.Path));
        Assert.That(read.Terms, Is.EqualTo(Plan.Terms));
        Assert.That(read with { At = Plan.At, Path = Plan.Path, Terms = Plan.Terms }, Is.EqualTo(Plan));
    }

    [TestCase(0)]
    [TestCase(-1)]
    [TestCase(3)]
    [TestCase(2048)]
    [TestCase(1_309_000_000)] // a replica asked for memory for so many, and ended
    public void A_plan_of_lanes_that_no_store_has_is_none(int lanes) => Assert.That(PlanFrame.TryDecode((Plan with { Lanes = lanes }).Encode()), Is.Null);

    [Test]
    public void A_plan_of_a_term_behind_which_there_are_none_is_none()
    {
        Assert.That(PlanFrame.TryDecode((Plan with { Term = TermStart.TermMax }).Encode()), Is.Not.Null);
        Assert.That(PlanFrame.TryDecode((Plan with { Term = TermStart.TermMax + 1 }).Encode()), Is.Null);
    }

    [TestCase(-1)]
    [TestCase(long.MinValue)]
    public void A_plan_of_a_time_before_all_times_is_none(long started) => Assert.That(PlanFrame.TryDecode((Plan with { StartedUnixUs = started }).Encode()), Is.Null);

    [TestCase(0, 0UL, 0L, 0UL)]
    [TestCase(uint.MaxValue, ulong.MaxValue, long.MaxValue, ulong.MaxValue)]
    public void The_place_of_a_copy_is_read_as_it_was_written(long term, ulong batch, long started, ulong blocks)
    {
        var place = new CopyPlace(new LogPosition((uint)term, batch, [0, uint.MaxValue]), started, blocks);
        Assert.That(CopyPlace.TryParse(place.ToString(), out CopyPlace? read));
        Assert.That(read!.At.Is(place.At));
        Assert.That((read.StartedUnixUs, read.Blocks), Is.EqualTo((started, blocks)));
    }

    [Test]
    public void A_plan_cut_or_longer_is_none()
    {
        byte[] bytes = Plan.Encode();
        for (int length = 0; length < bytes.Length; length++) Assert.That(PlanFrame.TryDecode(bytes.AsSpan(0, length)), Is.Null);
        Assert.That(PlanFrame.TryDecode([.. bytes, 0]), Is.Null);
    }

    [Test]
    public void A_plan_of_a_later_layout_of_values_ends_the_link_before_any_value_comes()
    {
        PlanFrame later = Plan with { Layout = ValueLayout.Current + 1 };
        Assert.That(PlanFrame.TryDecode(later.Encode())!.Layout, Is.EqualTo(later.Layout));
        var writer = new FrameWriter();
        writer.Add(FrameKind.Plan, later.Encode());
        FrameReader reader = FrameReader.OfPrimary();
        Feed(reader, writer.Bytes);
        var link = new PrimaryLink(follower: null!, static _ => Assert.Fail("nobody is to act on it"), static _ => { });
        Assert.That(link.Take(reader), Is.False);
        Assert.That(link.Fault, Does.Contain("newer version"));
    }

    [Test]
    public void Acknowledgements_and_pings_are_read_as_they_were_written()
    {
        byte[] bytes = new byte[AckFrame.Bytes];
        var ack = new AckFrame(3, 0xFEDCBA98, 100, 90, 100);
        ack.Write(bytes);
        Assert.That(AckFrame.TryRead(bytes, out AckFrame read) && read == ack);
        new AckFrame(3, 7, 100, 101, 100).Write(bytes);
        Assert.That(AckFrame.TryRead(bytes, out _), Is.False, "what has not come cannot be durable");
        bytes = new byte[PingFrame.Bytes];
        var ping = new PingFrame(4, 5, -6);
        ping.Write(bytes);
        Assert.That(PingFrame.TryRead(bytes, out PingFrame readPing) && readPing == ping);
    }

    [Test]
    public void Frames_come_out_whole_however_their_bytes_arrive([Values(1, 7, 100_000)] int piece)
    {
        (FrameWriter writer, List<(FrameKind, byte[])> sent) = Stream();
        FrameReader reader = FrameReader.OfPrimary();
        var found = new List<(FrameKind Kind, byte[] Body)>();
        for (int at = 0; at < writer.Count; at += piece)
        {
            Feed(reader, writer.Bytes.Slice(at, Math.Min(piece, writer.Count - at)));
            while (reader.TryNext(out FrameKind kind, out ReadOnlySpan<byte> body)) found.Add((kind, body.ToArray()));
        }
        Assert.That(reader.Fault, Is.Null);
        Assert.That(found, Is.EqualTo(sent));
    }

    [Test]
    public void No_changed_byte_of_a_frame_that_is_checked_here_passes()
    {
        var writer = new FrameWriter();
        writer.Add(FrameKind.Plan, Plan.Encode());
        byte[] bytes = writer.Bytes.ToArray();
        for (int i = 0; i < bytes.Length; i++)
        {
            for (int bit = 0; bit < 8; bit++)
            {
                byte[] changed = [.. bytes];
                changed[i] ^= (byte)(1 << bit);
                FrameReader reader = FrameReader.OfPrimary();
                Feed(reader, changed);
                Assert.That(reader.TryNext(out _, out _), Is.False, $"byte {i} bit {bit}");
            }
        }
    }

    [Test]
    public void A_changed_header_of_a_frame_whose_body_brings_its_own_checksum_is_noticed([Values((byte)FrameKind.Batch, (byte)FrameKind.Snapshot)] byte kind)
    {
        var writer = new FrameWriter();
        writer.Add((FrameKind)kind, new byte[100]);
        for (int i = 0; i < FrameFormat.HeaderBytes; i++)
        {
            byte[] changed = writer.Bytes.ToArray();
            changed[i] ^= 4;
            FrameReader reader = FrameReader.OfPrimary();
            Feed(reader, changed);
            Assert.That(reader.TryNext(out _, out _), Is.False, $"byte {i}");
            Assert.That(reader.Fault, Is.Not.Null, $"byte {i}");
        }
    }

    [Test]
    public void A_kind_that_is_not_for_this_side_is_refused()
    {
        var writer = new FrameWriter();
        writer.Add(FrameKind.Batch, new byte[100]);
        FrameReader reader = FrameReader.OfReplica();
        Feed(reader, writer.Bytes);
        Assert.That(reader.TryNext(out _, out _), Is.False);
        Assert.That(reader.Fault, Does.Contain("kind 4 is not for this side"));
    }

    [Test]
    public void A_length_that_is_claimed_takes_no_memory_before_the_bytes_come()
    {
        byte[] header = new byte[FrameFormat.HeaderBytes];
        FrameFormat.Write(header, FrameKind.Batch, [], []);
        BitConverter.TryWriteBytes(header.AsSpan(8), 1 << 30);
        BitConverter.TryWriteBytes(header.AsSpan(12), Garnet.Aof.Format.Crc32C.Of(header.AsSpan(0, 12)));
        FrameReader reader = FrameReader.OfPrimary();
        Feed(reader, header);
        Assert.That(reader.TryNext(out _, out _), Is.False);
        Assert.That(reader.Fault, Is.Null, "it may come");
        Assert.That(reader.Room().Length, Is.LessThan(1 << 20));
    }

    [Test]
    public void Random_bytes_are_no_frames([Values(1, 2, 3, 4, 5)] int seed)
    {
        var random = new Random(seed);
        (FrameWriter writer, _) = Stream();
        for (int round = 0; round < 2000; round++)
        {
            byte[] bytes = writer.Bytes.ToArray();
            int from = random.Next(bytes.Length);
            random.NextBytes(bytes.AsSpan(from, Math.Min(random.Next(1, 50), bytes.Length - from)));
            FrameReader reader = FrameReader.OfPrimary();
            Feed(reader, bytes.AsSpan(0, random.Next(bytes.Length)));
            while (reader.TryNext(out FrameKind kind, out ReadOnlySpan<byte> body))
            {
                if (kind == FrameKind.Plan) PlanFrame.TryDecode(body);
            }
        }
    }

    private static (FrameWriter Writer, List<(FrameKind, byte[])> Sent) Stream()
    {
        var writer = new FrameWriter();
        var sent = new List<(FrameKind, byte[])>();
        foreach (FrameKind kind in (FrameKind[])[FrameKind.Plan, FrameKind.Ping, FrameKind.Batch, FrameKind.Snapshot, FrameKind.Batch, FrameKind.Bye])
        {
            byte[] body = kind == FrameKind.Plan ? Plan.Encode() : new byte[kind == FrameKind.Batch ? 200_000 : 30];
            body[^1] = (byte)kind;
            writer.Add(kind, body.AsSpan(0, 10), body.AsSpan(10));
            sent.Add((kind, body));
        }
        return (writer, sent);
    }

    private static void Feed(FrameReader reader, ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            Span<byte> room = reader.Room();
            int count = Math.Min(room.Length, bytes.Length);
            bytes[..count].CopyTo(room);
            reader.Arrived(count);
            bytes = bytes[count..];
        }
    }
}
