using System.Diagnostics;
using System.Globalization;
using System.Text;
using Garnet.Bulk;
using NUnit.Framework;

namespace Garnet.Wire.Bulk;

/// <summary>A client whose memory does not come, and a server that is another process.</summary>
[Parallelizable] // servers of its own
public sealed class BulkHeldTests
{
    private const int Size = 1 << 20, PatienceMs = 120_000;

    [OneTimeSetUp]
    public void The_machine_has_it()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
        using HeldMemory? memory = HeldMemory.TryMake(Size);
        if (memory is null)
            Assert.Ignore("pages cannot be held here (userfaultfd)");
    }

    [Test]
    public void Whoever_holds_a_transfer_up_takes_no_place_of_others_and_gives_all_back()
    {
        using ServerProcess server = Start("--bulk-sessions 1 --bulk-timeout 300");
        using RespConnection client = new(server.Address, PatienceMs), other = new(server.Address, PatienceMs);
        using HeldMemory memory = HeldMemory.TryMake(Size)!;
        var exposed = BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true });
        BulkRegion region = Expose(exposed, memory);
        Assert.That(Hello(client, exposed), Does.Contain("\"provider\" \"local\""));
        Name(client, region);
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", Text(Size)).ToString(), Does.StartWith("-BULKTIMEOUT"));
        Assert.That(other.Call("EXISTS", "k").Text, Is.EqualTo("0"));
        Holds(() => Figure(other, "sessions-held") == "1");
        Assert.That(Figure(other, "bytes-running"), Is.EqualTo("0"), "the budget is the others'");
        Assert.That(Hello(other, exposed), Does.Contain("holds up an endpoint"), "this process, not the bound of sessions, is why");
        memory.Serve();
        Holds(() => Figure(other, "sessions-held") == "0");
        // The session's place comes back behind the figure.
        Holds(() => Hello(other, exposed).Contains("\"provider\" \"local\"", StringComparison.Ordinal));
        region.Dispose();
        exposed.Close(TimeSpan.FromSeconds(10));
    }

    [Test]
    public void A_stop_does_not_wait_long_for_a_page_that_does_not_come()
    {
        using ServerProcess server = Start("--bulk-timeout 60000");
        using RespConnection client = new(server.Address, PatienceMs), other = new(server.Address, PatienceMs);
        using HeldMemory memory = HeldMemory.TryMake(Size)!;
        var exposed = BulkEndpoint.Open("local", new BulkEndpointOptions { Exposes = true });
        BulkRegion region = Expose(exposed, memory);
        Hello(client, exposed);
        Name(client, region);
        client.Send(RespConnection.Encode("BULK.PUT", "k", "1", "0", Text(Size)));
        Holds(() => IsCopying(server.Pid), () => client.HasMore ? client.Read().ToString() : server.LastWords);
        var time = Stopwatch.StartNew();
        Process.Start("kill", $"-TERM {server.Pid}").WaitForExit();
        server.WaitForExit();
        Assert.That(time.Elapsed, Is.LessThan(TimeSpan.FromSeconds(8)), server.LastWords);
        Holds(() => server.LastWords.Contains("The stop waits for 1 bulk session whose memory", StringComparison.Ordinal), () => server.LastWords);
        region.Dispose();
        exposed.Close(TimeSpan.FromSeconds(10));
    }

    private static unsafe BulkRegion Expose(BulkEndpoint exposed, HeldMemory memory) =>
        exposed.Register((void*)memory.At, (ulong)memory.Bytes, BulkAccess.Read | BulkAccess.Write);

    private static ServerProcess Start(string flags)
    {
        ServerProcess? server = ServerProcess.TryStartOurs(flags);
        if (server is null) Assert.Ignore("our server is not built");
        return server!;
    }

    private static string Hello(RespConnection client, BulkEndpoint exposed)
    {
        string[] words = ["BULK.HELLO", "1", "PROVIDERS", "local", "ADDR"];
        client.Send(RespConnection.Encode([.. words.Select(Encoding.ASCII.GetBytes), exposed.Address.ToArray()]));
        return client.Read().ToString();
    }

    private static void Name(RespConnection client, BulkRegion region)
    {
        RemoteRegion name = region.Name;
        Assert.That(client.Call("BULK.REG", "1", $"0x{name.Base:x}", Text((int)name.Length), $"0x{name.Key:x}").ToString(), Is.EqualTo("+OK"));
    }

    private static string Figure(RespConnection client, string name)
    {
        IReadOnlyList<RespNode> all = client.Call("BULK.INFO").Items!;
        return all[all.Select(static item => item.Text).ToList().IndexOf(name) + 1].Text;
    }

    // One of its threads is in the call by which the kernel copies another process's memory (process_vm_readv; x86-64, arm64): a transfer that has only
    // begun would end at once.
    private static bool IsCopying(int pid) => Directory.GetDirectories($"/proc/{pid}/task")
        .Any(static task => Syscall(task) is "310" or "270");

    private static string Syscall(string task)
    {
        try
        {
            return File.ReadAllText(Path.Combine(task, "syscall")).Split(' ')[0];
        }
        catch (IOException)
        {
            return ""; // the thread has ended meanwhile
        }
    }

    private static void Holds(Func<bool> condition, Func<string>? otherwise = null) =>
        Assert.That(SpinWait.SpinUntil(condition, PatienceMs), Is.True, () => otherwise?.Invoke() ?? "");

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
