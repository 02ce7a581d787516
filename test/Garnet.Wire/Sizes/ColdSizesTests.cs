using Garnet.Common.Test;
using Garnet.Wire.Persistence;
using Garnet.Wire.Tiering;
using NUnit.Framework;

namespace Garnet.Wire.Sizes;

/// <summary>
/// The commands of <see cref="SizeWords"/> over values of sizes around the boundaries of what lengths are kept in, and of more than a segment of a tier takes, all of which
/// lie on a tier before each command: the reply is that of a server without one, and after a kill everything is there.
/// </summary>
[Parallelizable] // servers of its own
internal sealed class ColdSizesTests
{
    private const int CommandMs = 120_000;
    private const string Names = "s t n m1 x1 x2 d p q l k c e r o h u v z y g x";

    private static int Every { get; } = LongRun.IsWanted ? 2 : 8; // of the commands

    private static readonly long[] s_sizes = [0, 1, (1 << 15) - 1, (1 << 15) + 1, (1 << 16) - 1, (1 << 16) + 1, 3 << 20];

    // What says when, how much or whichever, how far the log has come, has no order, or is another id on each side.
    private static readonly string[] s_incomparable = ["SCAN", "WAITAOF", "TTL", "EXPIRETIME", "RAND", "POP", "DUMP", "KEYS", "MEMORY", "VALS", "GETALL", "SMEMBERS", "SINTER", "SUNION", "SDIFF"];

    [Test]
    public void A_value_of_any_size_answers_from_the_tier_as_from_memory([Values("alone", "EVAL")] string mode)
    {
        using TierScratch tier = new(memory: "256mb", size: "512mb");
        using DataServer cold = new($"{tier.Flags} --appendfsync no"), hot = new("--maxmemory 1gb --appendfsync no");
        List<string> differences = [];
        int turn = mode == "alone" ? 0 : Every / 2;
        long demoted;
        using (SizedClient ours = new(cold.Process.Address, CommandMs), reference = new(hot.Process.Address, CommandMs))
        {
            foreach (long size in s_sizes)
            {
                foreach ((string _, string[] stored, string[] all) in SizeWords.Families)
                {
                    foreach (SizedClient side in (SizedClient[])[ours, reference]) side.Call("DEL " + Names, 0);
                    foreach (string command in stored.Concat(all))
                    {
                        if (++turn % Every != 0 && !stored.Contains(command)) continue;
                        foreach (string name in Names.Split(' ')) ours.Call("TIER.DEMOTE " + name, 0);
                        string got = Reply(ours, command, size, mode), wanted = Reply(reference, command, size, mode);
                        if (got != wanted && IsComparable(command)) differences.Add($"{command} with {size} bytes: {Start(got)} and not {Start(wanted)}");
                    }
                }
            }

            using RespConnection looks = cold.Connect();
            demoted = looks.Tiering("tier_demoted_records");
            ours.Call("SET last there", 0);
        }

        Assert.That(differences, Is.Empty, string.Join('\n', differences.Take(20)));
        Assert.That(demoted, Is.GreaterThan(100));
        string digest = Digest(cold);
        cold.Kill();
        cold.Start();
        Assert.That(Digest(cold), Is.EqualTo(digest));
    }

    private static string Reply(SizedClient client, string command, long size, string mode) =>
        client.Call(mode == "alone" ? command : $"EVAL return(redis.pcall(unpack(ARGV))) 0 {command}", size);

    private static bool IsComparable(string command) =>
        command.Split(' ')[0] is var name && name[0] != 'X' && !Array.Exists(s_incomparable, part => name.Contains(part, StringComparison.Ordinal));

    private static string Start(string reply) => reply[..Math.Min(reply.Length, 60)];

    // All but when it was.
    private static string Digest(DataServer server)
    {
        using RespConnection client = server.Connect();
        string reply = client.Call("REPL", "DIGEST").ToString();
        return reply[reply.IndexOf("\"keys\"", StringComparison.Ordinal)..];
    }
}
