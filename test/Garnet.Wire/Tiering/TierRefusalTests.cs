using System.Diagnostics;
using System.Globalization;
using System.Numerics;
using System.Security.Cryptography;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Starts over a tier that cannot be gone on with: refused with what to do, and neither the tier's file nor the data directory is another afterwards.</summary>
[Parallelizable] // servers of its own
public sealed class TierRefusalTests
{
    private const int Segment = 1 << 20, Page = 4096;

    [Test]
    public void A_file_that_is_cut_in_its_last_segment_or_an_older_copy_is_refused_wherever_it_lies_and_nothing_changes()
    {
        using TierScratch tier = new(memory: "64mb", size: "16mb"), moved = new(memory: "64mb", size: "16mb");
        using DataServer server = new(tier.Flags);
        string file = FileOf(tier), aside = Path.Combine(server.Path, "aside"), older = Path.Combine(server.Path, "older");
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Put(client, 0, 200);
            using (Process copy = Process.Start("cp", [file, older])) copy.WaitForExit(); // whatever lock the server has on it
            Put(client, 200, 300); // each key has a page of its own: the last ones are in segment 2
            client.SaveSnapshot();
        }
        server.Stop();
        File.Copy(file, aside);
        foreach (int end in new[] { 0, 50, Page, 20 * Page })
        {
            using (FileStream cut = File.OpenWrite(file)) cut.SetLength((2 * Segment) + end);
            Refuses(server, tier.Flags, file, "are not those that are named (segment 2)");
            File.Copy(aside, file, overwrite: true);
        }
        File.Copy(older, file, overwrite: true);
        Refuses(server, tier.Flags, file, "are not those that are named");
        string elsewhere = Path.Combine(moved.Path, Path.GetFileName(file));
        File.Move(file, elsewhere);
        Refuses(server, moved.Flags, elsewhere, "are not those that are named");
        File.Delete(elsewhere);
        Refuses(server, moved.Flags, elsewhere, "are not those that are named");
        File.Move(aside, file);
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        for (int i = 0; i < 300; i++) Assert.That(again.Call("GET", "key:" + i).Text, Is.EqualTo(Value(i)));
    }

    [Test]
    public void A_smaller_tier_that_cuts_off_what_the_snapshot_before_names_is_refused_with_the_size_it_needs()
    {
        using TierScratch tier = new(memory: "64mb", size: "64mb");
        using DataServer server = new(tier.Flags);
        using (RespConnection client = new(server.Process.Address, 60_000))
        {
            Put(client, 0, 10);
            for (int i = 0; i < 30; i++)
            {
                client.Call("SET", "large:" + i, new string('x', 900_000));
                Assert.That(client.Call("TIER.DEMOTE", "large:" + i).ToString(), Is.EqualTo(":1"));
            }
            client.SaveSnapshot();
            for (int i = 0; i < 30; i++) client.Call("DEL", "large:" + i);
            client.SaveSnapshot();
        }
        server.Stop();
        Refuses(server, tier.Flags.Replace("size 64mb", "size 16mb", StringComparison.Ordinal), FileOf(tier), "Set tier-size to ");
        server.Start();
        using RespConnection again = new(server.Process.Address, 60_000);
        for (int i = 0; i < 10; i++) Assert.That(again.Call("GET", "key:" + i).Text, Is.EqualTo(Value(i)));
    }

    [Test]
    public void A_head_that_asks_for_more_memory_than_there_is_is_refused()
    {
        using TierScratch tier = new(memory: "16mb", size: "16mb");
        using DataServer server = new(tier.Flags);
        server.Stop();
        string file = FileOf(tier);
        byte[] head = new byte[64];
        using (FileStream stream = File.Open(file, FileMode.Open))
        {
            stream.ReadExactly(head);
            BitConverter.TryWriteBytes(head.AsSpan(32), 65536L);
            uint crc = ~0u;
            for (int at = 0; at < 60; at += 4) crc = BitOperations.Crc32C(crc, BitConverter.ToUInt32(head, at));
            BitConverter.TryWriteBytes(head.AsSpan(60), ~crc);
            stream.Position = 0;
            stream.Write(head);
        }
        Refuses(server, tier.Flags, file, "Set maxmemory to ");
    }

    [Test]
    public void In_memory_a_tier_is_scratch_and_one_that_is_kept_does_not_go_there()
    {
        if (!Directory.Exists("/dev/shm")) Assert.Ignore("there is no directory in memory");
        string memory = Path.Combine("/dev/shm", "garnet-" + Guid.NewGuid().ToString("N"));
        Directory.CreateDirectory(memory);
        try
        {
            string flags = $"--maxmemory 64mb --tier-path {memory} --tier-size 16mb";
            using TierScratch tier = new(memory: "64mb", size: "16mb");
            using DataServer kept = new(tier.Flags), scratch = new(flags);
            kept.Stop();
            Refuses(kept, flags, FileOf(tier), "gone when the machine starts again");
            using (RespConnection client = new(scratch.Process.Address, 60_000))
            {
                Put(client, 0, 50);
                client.SaveSnapshot();
            }
            scratch.Kill();
            Assert.That(Directory.GetFiles(memory), Is.Empty, "as after the machine has started again");
            scratch.Start();
            using RespConnection again = new(scratch.Process.Address, 60_000);
            for (int i = 0; i < 50; i++) Assert.That(again.Call("GET", "key:" + i).Text, Is.EqualTo(Value(i)));
        }
        finally
        {
            Directory.Delete(memory, recursive: true);
        }
    }

    [Test]
    public void A_first_start_that_is_killed_at_any_moment_does_not_keep_the_next_from_starting()
    {
        int unnamed = 0;
        for (int round = 0; round < 8; round++)
        {
            using TierScratch tier = new(memory: "64mb", size: "16mb");
            string directory = Path.Combine(tier.Path, "data");
            string[] words = [.. tier.Flags.Split(' '), "--dir", directory, "--port", "0", "--unixsocket", Path.Combine(tier.Path, "socket")];
            _ = Servers.Ours; // skips with the reason when it is not there
            using (Process process = Process.Start(new ProcessStartInfo(ServerProcess.OurProgram, words) { RedirectStandardOutput = true, RedirectStandardError = true })!)
            {
                // From the moment on at which the tier's directory has a file, a little later each round.
                Eventually.Holds(() => process.HasExited || Directory.EnumerateFiles(tier.Path, "tier-*").Any());
                for (int looks = 0; looks < round * 20; looks++) _ = Directory.EnumerateFiles(tier.Path, "tier-*").Any();
                process.Kill();
                process.WaitForExit();
                unnamed += Directory.GetFiles(tier.Path, "tier-*.tmp").Length;
            }
            using ServerProcess next = ServerProcess.TryStartOurs($"{tier.Flags} --dir {directory}")!;
            using RespConnection client = new(next.Address, 60_000);
            Assert.That(client.Call("SET", "key", "value").ToString(), Is.EqualTo("+OK"));
            Assert.That(Directory.GetFiles(tier.Path, "tier-*"), Has.Length.EqualTo(1), $"round {round}");
        }
        Assert.That(unnamed, Is.Positive, "one was killed before the tier's file had its name");
    }

    private static string FileOf(TierScratch tier) => Directory.GetFiles(tier.Path, "tier-*").Single();

    private static string Value(int i) => string.Create(CultureInfo.InvariantCulture, $"{i}:").PadRight(1500, (char)('a' + (i % 26)));

    private static void Put(RespConnection client, int from, int to)
    {
        for (int i = from; i < to; i++)
        {
            client.Call("SET", "key:" + i, Value(i));
            Assert.That(client.Call("TIER.DEMOTE", "key:" + i).ToString(), Is.EqualTo(":1"));
        }
    }

    private static void Refuses(DataServer server, string flags, string file, string why)
    {
        string[] before = Digests(server, file);
        string said = RefusedStart.Refuses(server, flags, why);
        Assert.That(Digests(server, file), Is.EqualTo(before), said);
    }

    // Of every file of the data directory and of the tier's, but for the one that says which process has it.
    private static string[] Digests(DataServer server, string file)
    {
        string tier = Path.GetDirectoryName(file)!;
        IEnumerable<string> files = new[] { server.Path, tier }.SelectMany(static path => Directory.GetFiles(path, "*", SearchOption.AllDirectories));
        return [.. files.Where(static path => Path.GetFileName(path) is not ("socket" or "lock")).Order(StringComparer.Ordinal)
            .Select(static path => $"{path} {Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(path)))}")];
    }
}
