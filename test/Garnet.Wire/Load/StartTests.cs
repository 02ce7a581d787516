using System.Diagnostics;
using System.Net;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Load;

/// <summary>What a start costs that can be counted.</summary>
internal sealed class StartTests
{
    private const int CompiledMax = 100, PatienceMs = 60_000;

    // Each is half a millisecond and some hundred KB; whoever needs one loads it.
    private static readonly string[] NotForAStart =
    [
        "System.Linq.dll", "System.Collections.Concurrent.dll", "System.Net.Primitives.dll", "Garnet.Lua.dll", "Garnet.Rdb.dll", "Garnet.Rdma.dll", "Garnet.Admin.dll", "Garnet.Migration.dll",
    ];

    /// <summary>
    /// The build has machine code for what it has IL for, but for what is generic over a struct of another assembly (a list, a query) and what touches UInt128 or vectors of a width that
    /// is not settled: each such method that a start runs is compiled at each start, a tenth of a millisecond and more. There were 262.
    /// </summary>
    [Test]
    public void From_start_to_stop_few_methods_are_compiled_and_no_assembly_is_loaded_in_vain()
    {
        string lines = Path.GetTempFileName();
        int port = FreePorts.Next();
        ProcessStartInfo start = new(ServerProcess.OurProgram, $"--bind 127.0.0.1 --port {port}") { RedirectStandardOutput = true };
        (start.Environment["DOTNET_JitStdOutFile"], start.Environment["DOTNET_JitDisasmSummary"]) = (lines, "1");
        using Process process = Process.Start(start)!;
        process.OutputDataReceived += static (_, _) => { };
        process.BeginOutputReadLine();
        try
        {
            RespConnection? client = null;
            Assert.That(SpinWait.SpinUntil(() => (client = TryConnect(port)) is not null, PatienceMs), Is.True);
            string mapped = File.ReadAllText($"/proc/{process.Id}/maps");
            Assert.That(NotForAStart.Where(name => mapped.Contains('/' + name, StringComparison.Ordinal)), Is.Empty);
            client!.Send(RespConnection.Encode("SHUTDOWN", "NOSAVE"));
            Assert.That(process.WaitForExit(PatienceMs), Is.True);
            client.Dispose();
        }
        finally
        {
            if (!process.HasExited) process.Kill();
        }
        string[] compiled = [.. File.ReadAllLines(lines).Where(static line => line.Contains("Tier0", StringComparison.Ordinal))];
        File.Delete(lines);
        if (compiled.Length == 0) Assert.Ignore("this build compiles nothing while it runs");
        Assert.That(compiled, Has.Length.LessThanOrEqualTo(CompiledMax), string.Join('\n', compiled));
    }

    private static RespConnection? TryConnect(int port)
    {
        try
        {
            return new RespConnection(new IPEndPoint(IPAddress.Loopback, port));
        }
        catch (System.Net.Sockets.SocketException)
        {
            return null;
        }
    }
}
