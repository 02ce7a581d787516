using System.Collections.Concurrent;
using Garnet.Common.Test;
using Garnet.Wire.Persistence;
using Garnet.Wire.Tiering;
using NUnit.Framework;

namespace Garnet.Wire.Rdb;

/// <summary>A dump.rdb of Redis in an empty data directory is taken over at the start: all of it, once, or not at all.</summary>
[Parallelizable(ParallelScope.All)] // servers of its own, each test
[TestFixture]
internal sealed class RdbImportTests
{
    private static readonly int[] Sizes = [1, 5, 600, 20_000];

    // By compression; both logs begin with the same.
    private static readonly ConcurrentDictionary<string, Lazy<(byte[] File, Dictionary<string, string> Wanted)>> s_saved = [];

    [TestCase("--appendonly yes", "yes")]
    [LongCase("--appendonly yes", "no")]
    [LongCase("--appendonly no", "yes")]
    [TestCase("--appendonly no", "no")]
    public void What_Redis_saved_is_there_and_stays_there(string flags, string compression)
    {
        (byte[] saved, Dictionary<string, string> all) = s_saved.GetOrAdd(compression, static how => new Lazy<(byte[], Dictionary<string, string>)>(() => Saved(how))).Value;
        Dictionary<string, string> wanted = new(all);
        using DataServer server = new(flags);
        server.Stop();
        Directory.Delete(server.Path, recursive: true);
        Directory.CreateDirectory(server.Path);
        File.WriteAllBytes(Path.Combine(server.Path, "dump.rdb"), saved);
        for (int start = 0; start < 2; start++)
        {
            server.Start();
            using RespConnection ours = server.Connect();
            foreach ((string key, string digest) in wanted) Assert.That(Values.Digest(ours, key), Is.EqualTo(digest), key);
            Assert.That(ours.Call("PEXPIRETIME", "string 5").Text, Is.EqualTo("4000000000000"));
            Assert.That(ours.Call("DBSIZE").Text, Is.EqualTo($"{wanted.Count}"), "what was due is left out");
            Assert.That(ours.Call("FCALL", "twice", "0", "21").ToString(), Is.EqualTo(":42"));
            ours.Call("SELECT", "9");
            Assert.That(ours.Call("GET", "elsewhere").Text, Is.EqualTo("there"));
            ours.Call("SELECT", "0");
            if (start == 0) Assert.That(ours.Call("DEL", "string 600").Text, Is.EqualTo("1"), "and is not imported again");
            wanted.Remove("string 600");
            if (start == 0 && flags == "--appendonly no") Assert.That(ours.Call("SAVE").ToString(), Is.EqualTo("+OK"));
            server.Stop();
        }
    }

    [Test]
    public void What_is_more_than_memory_goes_to_the_tier_while_it_is_taken()
    {
        const int Strings = 40_000, Hashes = 30, Longs = 12, StringBytes = 1000, LongBytes = 3 << 20;
        using RdbSource source = new();
        using TierScratch tier = new(memory: "16mb", size: "256mb");
        using DataServer server = new(tier.Flags);
        server.Stop();
        Directory.Delete(server.Path, recursive: true);
        Directory.CreateDirectory(server.Path);
        foreach (string file in Directory.GetFiles(tier.Path)) File.Delete(file);
        using (RespConnection redis = source.Connect())
        {
            redis.Call("EVAL", $"for i = 1, {Hashes} do for f = 1, 2000 do redis.call('HSET', 'hash:' .. i, 'field ' .. f, string.rep('h', 400)) end end", "0");
            redis.Call("EVAL", $"for i = 1, {Strings} do redis.call('SET', 'key:' .. i, string.rep('v', {StringBytes})) end", "0");
            redis.Call("EVAL", $"for i = 1, {Longs} do redis.call('SET', 'long:' .. i, string.rep('l', {LongBytes})) end", "0");
            source.SaveTo(server.Path);
        }
        server.Start();
        using RespConnection ours = server.Connect();
        Assert.That(ours.Call("DBSIZE").Text, Is.EqualTo($"{Strings + Hashes + Longs}"));
        Assert.That((ours.Call("HLEN", "hash:7").ToString(), ours.Call("STRLEN", "long:3").ToString()), Is.EqualTo((":2000", $":{LongBytes}")));
    }

    [Test]
    public void A_damaged_file_ends_the_start_with_its_reason_and_is_left_as_it_is()
    {
        using RdbSource source = new();
        Fill(source, Sizes[..^1]);
        DirectoryInfo folder = Directory.CreateTempSubdirectory("garnet-rdb-");
        try
        {
            source.SaveTo(folder.FullName);
            string file = Path.Combine(folder.FullName, "dump.rdb");
            byte[] bytes = File.ReadAllBytes(file);
            byte[] changed = [.. bytes];
            changed[bytes.Length / 2] ^= 1;
            Refuses(folder, file, changed, "the checksum is wrong");
            Refuses(folder, file, bytes[..(bytes.Length / 2)], "the checksum is wrong");
            Refuses(folder, file, [.. bytes[..5], .. "0099"u8, .. bytes[9..]], "it has version 99 of the format");
            Refuses(folder, file, "not an RDB file"u8.ToArray(), "it does not begin as an RDB file does");
            Refuses(folder, file, [.. bytes[..^9], 99, .. new byte[8]], "is of type 99, which is not known here"); // no checksum, and an unknown entry in place of the end
            Refuses(folder, file, [.. bytes[..9], 7, 1, (byte)'m', 0, .. new byte[8]], "the key m is of type 7, which is not known here");
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static void Refuses(DirectoryInfo folder, string file, byte[] bytes, string reason)
    {
        File.WriteAllBytes(file, bytes);
        (int code, string said) = RefusedStart.Run(folder.FullName);
        Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
        Assert.That(said, Does.Contain(reason));
        Assert.That(File.ReadAllBytes(file).AsSpan().SequenceEqual(bytes), Is.True, "it is as it was");
    }

    private static (byte[] File, Dictionary<string, string> Wanted) Saved(string compression)
    {
        using RdbSource source = new($"--rdbcompression {compression}");
        Dictionary<string, string> wanted = Fill(source, Sizes);
        DirectoryInfo folder = Directory.CreateTempSubdirectory("garnet-rdb-");
        try
        {
            source.SaveTo(folder.FullName);
            return (File.ReadAllBytes(Path.Combine(folder.FullName, "dump.rdb")), wanted);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static Dictionary<string, string> Fill(RdbSource source, int[] sizes)
    {
        using RespConnection redis = source.Connect();
        var wanted = new Dictionary<string, string>();
        foreach ((string kind, int size) in Values.Kinds.SelectMany(kind => sizes.Select(size => (kind, size))))
        {
            Values.Fill(redis, $"{kind} {size}", kind, size);
            wanted.Add($"{kind} {size}", Values.Digest(redis, $"{kind} {size}"));
        }
        redis.Call("PEXPIREAT", "string 5", "4000000000000");
        redis.Call("FUNCTION", "LOAD", "#!lua name=sums\nredis.register_function('twice', function(keys, args) return args[1] * 2 end)");
        redis.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        redis.Call("SET", "due", "x", "PX", "1");
        redis.Call("SELECT", "9");
        redis.Call("SET", "elsewhere", "there");
        redis.Call("SELECT", "0");
        return wanted;
    }
}
