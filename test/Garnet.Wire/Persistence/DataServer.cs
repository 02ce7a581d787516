using System.Diagnostics;
using System.Globalization;
using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>Our server with a data directory that it keeps over kills and restarts.</summary>
internal sealed class DataServer : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("garnet-data-");
    private readonly string _flags;
    private ServerProcess? _process;

    public DataServer(string flags = "")
    {
        _flags = flags;
        Start();
    }

    public string Path => _directory.FullName;

    public ServerProcess Process => _process!;

    public RespConnection Connect() => new(_process!.Address);

    /// <summary>Starts the server and waits until its data is loaded.</summary>
    public void Start()
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        _process = ServerProcess.TryStartOurs($"--dir {Path} {(_flags.Contains("--appendonly", StringComparison.Ordinal) ? "" : "--appendonly yes ")}{_flags}".TrimEnd()) ?? throw new IgnoreException("our server is not built");
    }

    /// <summary>Ends the process at once (SIGKILL).</summary>
    public void Kill()
    {
        _process?.Dispose();
        _process = null;
    }

    /// <summary>Ends the process in order, as a service manager does.</summary>
    public void Terminate()
    {
        using (Process kill = System.Diagnostics.Process.Start("kill", ["-TERM", Process.Pid.ToString(CultureInfo.InvariantCulture)])) kill.WaitForExit();
        Process.WaitForExit();
        Kill();
    }

    /// <summary>Ends the process in order, by SHUTDOWN.</summary>
    public void Stop()
    {
        using (RespConnection connection = Connect()) connection.Send("SHUTDOWN NOSAVE\r\n"u8);
        Process.WaitForExit();
        Kill();
    }

    public void Dispose()
    {
        Kill();
        _directory.Delete(recursive: true);
    }
}
