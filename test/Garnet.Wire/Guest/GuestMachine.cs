using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Guest;

/// <summary>
/// A small machine (test/guest/guest.sh) with what this one may lack: persistent memory, mounted at /tmp/pm with DAX, a disk at /tmp/disk, and /dev/vdb, which
/// is for the tests. All keep what they have when the machine is killed. Our server's build is at hand in it.
/// </summary>
internal sealed class GuestMachine : IDisposable
{
    public const string Server = "DOTNET_ROOT=/mnt/dotnet /mnt/server/garnet-server --port 7000 --bind 0.0.0.0 --protected-mode no";
    private const long PmBytes = 96 << 20, DiskBytes = 512 << 20;
    private const int MakeSeconds = 600, CommandSeconds = 60, LifeSeconds = 1500; // of all tests, beside others on few cores
    private static readonly Lazy<string?> s_whyNot = new(Make);
    private readonly DirectoryInfo _files = Directory.CreateTempSubdirectory("garnet-guest-");
    private readonly int _port = FreePorts.Next();
    private BlockingCollection<string> _lines = [];
    private Process? _machine;

    /// <summary>Makes the machine and starts it; skips the test with the reason where there can be none.</summary>
    public GuestMachine()
    {
        if (!LongRun.IsWanted) Assert.Ignore("a machine of its own wants minutes: CI=true");
        _ = Servers.Ours; // skips with the reason when it is not there
        if (s_whyNot.Value is { } reason) Assert.Ignore(reason);
        foreach ((string name, long bytes) in (ReadOnlySpan<(string, long)>)[("pm", PmBytes), ("vda", DiskBytes), ("vdb", DiskBytes)])
        {
            using FileStream file = File.Create(FileOf(name));
            file.SetLength(bytes);
        }
        Boot();
        Run("mkfs.ext4 -q -b 4096 /dev/pmem0 && mkfs.ext4 -q /dev/vda");
        Mount();
    }

    /// <summary>Where the server in it is reached from here.</summary>
    public IPEndPoint Address => new(IPAddress.Loopback, _port);

    /// <summary>Runs a line as root, which must succeed; what it wrote.</summary>
    public string Run(string line)
    {
        (int status, string said) = Try(line);
        Assert.That(status, Is.Zero, $"{line}: {said}");
        return said;
    }

    /// <summary>Runs a line as root: its status, and what it wrote.</summary>
    public (int Status, string Said) Try(string line)
    {
        _machine!.StandardInput.WriteLine(line);
        _machine.StandardInput.Flush();
        return Answer(line);
    }

    /// <summary>Starts the server, and waits until it serves. One that a test has left behind, since it failed, is ended first.</summary>
    public void StartServer(string flags)
    {
        if (Try("test -e /tmp/pid").Status == 0) KillServer();
        Run($"{Server} {flags} >>/tmp/said 2>&1 & echo $! >/tmp/pid");
        SpinWait wait = default;
        for (long from = Stopwatch.GetTimestamp(); !Answers(); wait.SpinOnce())
        {
            bool isGone = Stopwatch.GetElapsedTime(from).TotalSeconds > CommandSeconds || Try("kill -0 $(cat /tmp/pid)").Status != 0;
            if (isGone) Assert.Fail($"the server does not serve: {Said}");
        }
    }

    /// <summary>What the servers since the boot have said.</summary>
    public string Said => Run("cat /tmp/said");

    /// <summary>Ends the server at once (SIGKILL).</summary>
    public void KillServer() => Run("kill -9 $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do usleep 10000; done");

    /// <summary>Ends the server in order.</summary>
    public void StopServer() => Run("kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do usleep 10000; done");

    /// <summary>The power goes, and comes again.</summary>
    public void CutPower()
    {
        TurnOff();
        Boot();
        Mount();
    }

    public void Dispose()
    {
        TurnOff();
        _files.Delete(recursive: true);
    }

    private string FileOf(string name) => Path.Combine(_files.FullName, name);

    private void TurnOff()
    {
        if (_machine is null) return;
        _machine.Kill(entireProcessTree: true);
        _machine.WaitForExit();
        _machine.Dispose();
        _machine = null;
    }

    private void Mount() => Run("mkdir -p /tmp/pm /tmp/disk && mount -o dax=always /dev/pmem0 /tmp/pm && mount /dev/vda /tmp/disk");

    private void Boot()
    {
        string runtime = Path.GetFullPath("../../..", RuntimeEnvironment.GetRuntimeDirectory());
        Process machine = Start(LifeSeconds, "boot", "--share", $"dotnet={runtime}", "--share", $"server={Path.GetDirectoryName(ServerProcess.OurProgram)}",
            "--nvdimm", FileOf("pm"), "--disk", FileOf("vda"), "--disk", FileOf("vdb"), "--forward", $"{_port}:7000");
        BlockingCollection<string> lines = _lines = [];
        machine.OutputDataReceived += (_, line) => Keep(line.Data);
        machine.ErrorDataReceived += (_, line) => Keep(line.Data);
        machine.BeginOutputReadLine();
        machine.BeginErrorReadLine();
        _machine = machine;
        Answer("boot");

        void Keep(string? line)
        {
            if (line is not null) lines.Add(line.TrimEnd('\r'));
        }
    }

    private (int Status, string Said) Answer(string line)
    {
        List<string> said = [];
        while (_lines.TryTake(out string? next, TimeSpan.FromSeconds(CommandSeconds)))
        {
            if (next.StartsWith("= ", StringComparison.Ordinal) && int.TryParse(next[2..], CultureInfo.InvariantCulture, out int status))
                return (status, string.Join('\n', said).TrimEnd());
            said.Add(next);
        }
        throw new TimeoutException($"{line}: no answer from the guest; {string.Join('\n', said)}");
    }

    private bool Answers()
    {
        try
        {
            using RespConnection connection = new(Address, timeoutMs: 1000);
            return connection.Call("PING").Text == "PONG";
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            return false;
        }
    }

    // Why there can be none; null if there is one.
    private static string? Make()
    {
        if (!OperatingSystem.IsLinux()) return "the guest is made on Linux only";
        using Process make = Start(MakeSeconds, "build");
        Task<string> errors = make.StandardError.ReadToEndAsync();
        if (make.WaitForExit(TimeSpan.FromSeconds(MakeSeconds)) && make.ExitCode == 0) return null;
        make.Kill(entireProcessTree: true);
        return "no guest can be made: " + errors.InTime().Split('\n', StringSplitOptions.RemoveEmptyEntries).LastOrDefault("it takes too long");
    }

    private static Process Start(int seconds, params string[] words)
    {
        ProcessStartInfo start = new(Path.Combine(Repository.Root, "test/guest/guest.sh"), words)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["GUEST_SECONDS"] = seconds.ToString(CultureInfo.InvariantCulture);
        return Process.Start(start)!;
    }
}
