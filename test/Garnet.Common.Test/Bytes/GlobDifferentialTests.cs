using System.Diagnostics;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Common.Test.Bytes;

/// <summary>Asks a real redis-server which keys a random pattern matches. Skipped where none is installed.</summary>
public sealed class GlobDifferentialTests
{
    private const int StartMs = 60_000;
    private const string Alphabet = "abAB-^]";
    private const string Elements = "ab?*[]^-\\cAB*[";

    [Test]
    public void Random_patterns_match_the_keys_that_redis_lists()
    {
        int seed = Environment.TickCount;
        TestContext.Out.WriteLine($"seed {seed}");
        var random = new Random(seed);
        using Process server = Start(out string folder);
        try
        {
            using var stream = Connect(Path.Combine(folder, "s"), server);
            using var reader = new StreamReader(stream, Encoding.Latin1);
            string[] keys = [.. Enumerable.Range(0, 400).Select(_ => Word(random, Alphabet, 1, 6)).Distinct()];
            foreach (string key in keys) Send(stream, reader, "SET", key, "1");
            for (int round = 0; round < 2_000; round++)
            {
                string pattern = Word(random, Elements, 1, 8);
                string[] theirs = Send(stream, reader, "KEYS", pattern);
                string[] ours = [.. keys.Where(key => new Glob(Encoding.Latin1.GetBytes(pattern)).Matches(Encoding.Latin1.GetBytes(key)))];
                Assert.That(ours, Is.EquivalentTo(theirs), $"pattern {pattern}, seed {seed}");
            }
        }
        finally
        {
            server.Kill();
            server.WaitForExit();
            Directory.Delete(folder, recursive: true);
        }
    }

    private static Process Start(out string folder)
    {
        folder = Directory.CreateTempSubdirectory("glob").FullName;
        string arguments = $"--port 0 --unixsocket {Path.Combine(folder, "s")} --save \"\" --dir {folder} --logfile log";
        try
        {
            return Process.Start(new ProcessStartInfo("redis-server", arguments))!;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            Assert.Ignore("redis-server is not installed");
            throw;
        }
    }

    private static NetworkStream Connect(string path, Process server)
    {
        var target = new UnixDomainSocketEndPoint(path);
        for (var since = Stopwatch.StartNew(); ;)
        {
            var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            try
            {
                socket.Connect(target);
                return new NetworkStream(socket, ownsSocket: true);
            }
            catch (SocketException) when (!server.HasExited && since.ElapsedMilliseconds < StartMs)
            {
                socket.Dispose();
                Thread.Yield();
            }
        }
    }

    private static string[] Send(Stream stream, StreamReader reader, params string[] words)
    {
        var request = new StringBuilder($"*{words.Length}\r\n");
        foreach (string word in words) request.Append($"${word.Length}\r\n{word}\r\n");
        stream.Write(Encoding.Latin1.GetBytes(request.ToString()));
        string head = reader.ReadLine()!;
        if (head[0] != '*') return [];
        string[] items = new string[int.Parse(head[1..])];
        for (int i = 0; i < items.Length; i++)
        {
            reader.ReadLine();
            items[i] = reader.ReadLine()!;
        }
        return items;
    }

    private static string Word(Random random, string letters, int min, int max)
        => string.Concat(Enumerable.Range(0, random.Next(min, max + 1)).Select(_ => letters[random.Next(letters.Length)]));
}
