using System.Diagnostics;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>A start over a data directory that is to end by itself.</summary>
internal static class RefusedStart
{
    /// <summary>Exit code for data that cannot be used.</summary>
    public const int Data = 65;

    private const int PatienceMs = 60_000;

    /// <summary>Starts the server and waits for its end: its exit code, and all it said.</summary>
    public static (int Code, string Said) Run(string directory) => RunWith("--dir", directory, "--port", "0", "--unixsocket", Path.Combine(directory, "socket"));

    /// <summary>The same of <c>garnet-server check</c>.</summary>
    public static (int Code, string Said) Check(string directory) => RunWith("check", directory);

    /// <summary>The same with any words on the command line.</summary>
    public static (int Code, string Said) RunWith(params string[] flags)
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        return EndOf(new ProcessStartInfo(ServerProcess.OurProgram, flags));
    }

    /// <summary>A start over the server's directory with these flags is refused, with that among what it says; all it said.</summary>
    public static string Refuses(DataServer server, string flags, string why)
    {
        (int code, string said) = RunWith([.. flags.Split(' '), "--dir", server.Path, "--port", "0", "--unixsocket", Path.Combine(server.Path, "socket")]);
        Assert.That((code, said), Is.Not.EqualTo((0, said)));
        Assert.That(said, Does.Contain(why));
        return said;
    }

    /// <summary>The same where the system lets no file of the server be larger than so many bytes.</summary>
    public static (int Code, string Said) RunWithSmallFiles(long bytes, params string[] flags)
    {
        _ = Servers.Ours; // as above
        string limited = $"trap '' XFSZ; ulimit -f {bytes / 512}; exec \"$@\"";
        ProcessStartInfo start = new("sh", ["-c", limited, "sh", ServerProcess.OurProgram, .. flags]);
        start.Environment["DOTNET_EnableWriteXorExecute"] = "0"; // the runtime has a large file in memory for it
        return EndOf(start);
    }

    private static (int Code, string Said) EndOf(ProcessStartInfo start)
    {
        start.RedirectStandardOutput = start.RedirectStandardError = true;
        using Process process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync(), said = process.StandardOutput.ReadToEndAsync();
        bool isRefused = process.WaitForExit(PatienceMs);
        if (!isRefused) process.Kill();
        process.WaitForExit();
        return (process.ExitCode, isRefused ? said.InTime() + errors.InTime() : "it was not refused: " + said.InTime() + errors.InTime());
    }
}
