using System.Globalization;
using NUnit.Framework;

namespace Garnet.Wire.Replication;

/// <summary>One server of a group: keeps its port, and its directory if it has one, over kills and restarts.</summary>
internal sealed class ReplicaServer : IDisposable
{
    public const int TimeoutMs = 90_000;
    private readonly DirectoryInfo? _directory;
    private readonly string _flags, _file = "";
    private ServerProcess? _process;
    private int _port;

    /// <param name="keepsData">Gives it a directory.</param>
    /// <param name="flags">More of its command line.</param>
    /// <param name="hasFile">Gives it a configuration file in the directory, empty at first, for CONFIG REWRITE.</param>
    public ReplicaServer(bool keepsData, string flags = "", bool hasFile = false)
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        _directory = keepsData ? Directory.CreateTempSubdirectory("garnet-repl-") : null;
        _flags = keepsData ? $"--dir {_directory!.FullName} --appendonly yes {flags}" : flags;
        if (hasFile) File.WriteAllText(_file = Path.Combine(_directory!.FullName, "garnet.conf"), "");
        Start();
    }

    /// <summary>A second server with a copy of all that the first one, which does not run now, has on its disk.</summary>
    public ReplicaServer(ReplicaServer original)
    {
        _directory = Directory.CreateTempSubdirectory("garnet-repl-");
        foreach (string folder in Directory.GetDirectories(original._directory!.FullName, "*", SearchOption.AllDirectories))
            Directory.CreateDirectory(Path.Combine(_directory.FullName, Path.GetRelativePath(original._directory.FullName, folder)));
        foreach (string file in Directory.GetFiles(original._directory.FullName, "*", SearchOption.AllDirectories))
            File.Copy(file, Path.Combine(_directory.FullName, Path.GetRelativePath(original._directory.FullName, file)));
        _flags = original._flags.Replace(original._directory.FullName, _directory.FullName, StringComparison.Ordinal);
        Start();
    }

    /// <summary>What its configuration file says now.</summary>
    public string FileText => File.ReadAllText(_file);

    public int Port => _port;

    public ServerProcess Process => _process!;

    public RespConnection Connect() => new(_process!.Address);

    public void Start(string moreFlags = "")
    {
        _process = ServerProcess.TryStartOurs($"{_flags} {moreFlags}".Trim(), _port, _file) ?? throw new IgnoreException("our server is not built");
        _port = _process.Address.Port;
    }

    /// <summary>Ends the process at once (SIGKILL).</summary>
    public void Kill()
    {
        _process?.Dispose();
        _process = null;
    }

    /// <summary>Sends the process a signal by its name.</summary>
    public void Signal(string name)
    {
        using var kill = System.Diagnostics.Process.Start("kill", $"-{name} {_process!.Pid}");
        kill.WaitForExit();
    }

    /// <summary>Makes it a replica and waits until batches come in.</summary>
    public void Follow(ReplicaServer primary)
    {
        using RespConnection connection = Connect();
        Assert.That(connection.Call("REPLICAOF", "127.0.0.1", primary.Port.ToString(CultureInfo.InvariantCulture)).Text, Does.StartWith("OK"));
        AwaitLink();
    }

    public void AwaitLink()
    {
        using RespConnection connection = Connect();
        Assert.That(() => Field(connection, "master_link_status"), Is.EqualTo("up").After(TimeoutMs, 20), Info);
    }

    /// <summary>A field of INFO.</summary>
    public static string Field(RespConnection connection, string name)
    {
        foreach (string line in connection.Call("INFO", "everything").Text.Split("\r\n"))
            if (line.StartsWith(name + ":", StringComparison.Ordinal)) return line[(name.Length + 1)..];
        return "";
    }

    public long Number(string name)
    {
        using RespConnection connection = Connect();
        return long.Parse(Field(connection, name), CultureInfo.InvariantCulture);
    }

    /// <summary>Waits until this replica shows all that its primary shows now.</summary>
    public void CatchUp(ReplicaServer primary)
    {
        string token;
        using (RespConnection connection = primary.Connect()) token = connection.Call("REPL", "TOKEN").Text;
        using RespConnection own = Connect();
        Assert.That(() => own.Call("REPL", "WAIT", token, "1000").ToString(), Is.EqualTo("+OK").After(TimeoutMs, 20), Info);
    }

    /// <summary>What it holds, in numbers that servers with the same data agree about.</summary>
    public string Digest()
    {
        using RespConnection connection = Connect();
        string reply = connection.Call("REPL", "DIGEST").ToString();
        return reply[reply.IndexOf("\"keys\"", StringComparison.Ordinal)..];
    }

    public string Info()
    {
        using RespConnection connection = Connect();
        return connection.Call("INFO", "replication").Text;
    }

    /// <summary>What <c>garnet-server check</c> says of its directory; it does not run meanwhile.</summary>
    public string Check()
    {
        using var check = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo(ServerProcess.OurProgram, ["check", _directory!.FullName]) { RedirectStandardOutput = true })!;
        string said = check.StandardOutput.ReadToEnd();
        check.WaitForExit();
        return said;
    }

    public void Dispose()
    {
        Kill();
        _directory?.Delete(recursive: true);
    }
}
