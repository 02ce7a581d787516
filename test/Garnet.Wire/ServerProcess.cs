using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Garnet.Common.Test;

namespace Garnet.Wire;

/// <summary>
/// A server under test or the reference: started on a free port in a folder of its own, ready when it answers PING, killed on
/// disposal. GARNET_WIRE_ENDPOINT=host:port names a server that already runs and stands for ours, GARNET_WIRE_PROGRAM another build of ours.
/// </summary>
internal sealed class ServerProcess : IDisposable
{
    private const int ReadySeconds = 60, BetweenAsksMs = 5, LinesKept = 40;
    private const int LoadingSeconds = 480; // less than the quarter of an hour after which the gate ends a test without a word of what it waited for
    private const string CommonFlags = "--bind 127.0.0.1 --save \"\" --appendonly no --enable-debug-command yes";

    private readonly Process? _process;
    private readonly DirectoryInfo? _folder;
    private readonly Queue<string> _lines = new();
    private bool _isDisposed;

    private ServerProcess(IPEndPoint address, Process? process, DirectoryInfo? folder)
    {
        Address = address;
        _process = process;
        _folder = folder;
    }

    /// <summary>Our server's executable, built or not.</summary>
    public static string OurProgram { get; } =
        Path.GetFullPath(Environment.GetEnvironmentVariable("GARNET_WIRE_PROGRAM") ?? "artifacts/bin/GarnetServer/release/garnet-server", Repository.Root);

    public IPEndPoint Address { get; }

    /// <summary>Zero for a server that this run did not start.</summary>
    public int Pid => _process?.Id ?? 0;

    /// <summary>Where it runs.</summary>
    public string Folder => _folder!.FullName;

    public bool IsAlive => _process is null or { HasExited: false };

    /// <summary>Our server, or null when it is not built. <paramref name="file"/>: its configuration file.</summary>
    public static ServerProcess? TryStartOurs(string moreFlags = "", int port = 0, string file = "")
    {
        string? endpoint = Environment.GetEnvironmentVariable("GARNET_WIRE_ENDPOINT");
        if (endpoint is not null && moreFlags.Length == 0 && port == 0) return new ServerProcess(IPEndPoint.Parse(endpoint), null, null);
        return File.Exists(OurProgram) ? Start(OurProgram, file, $"{CommonFlags} {moreFlags}", port) : null;
    }

    /// <summary>redis-server, or null when it is not installed.</summary>
    public static ServerProcess? TryStartRedis(string moreFlags = "") =>
        RedisProgram is { } program ? Start(program, "", $"{CommonFlags} {moreFlags}", 0) : null;

    /// <summary>A Sentinel, which rewrites its file all the time; null when redis-server is not installed.</summary>
    public static ServerProcess? TryStartSentinel(string file) => RedisProgram is { } program ? Start(program, file, "--bind 127.0.0.1 --sentinel", 0) : null;

    private static string? RedisProgram =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator).Select(static folder => Path.Combine(folder, "redis-server")).FirstOrDefault(File.Exists);

    /// <summary>How it ended, if it did, and the last lines it wrote: for the message of a failure.</summary>
    public string LastWords
    {
        get
        {
            string how = IsAlive ? "it runs" : $"it ended with code {_process!.ExitCode}";
            lock (_lines) return $"{how}\n{string.Join('\n', _lines)}";
        }
    }

    public void WaitForExit() => _process?.WaitForExit();

    public long ResidentBytes()
    {
        _process!.Refresh();
        return _process.WorkingSet64;
    }

    public void Dispose()
    {
        if (_process is null || _isDisposed) return;
        _isDisposed = true;
        if (!_process.HasExited) _process.Kill(entireProcessTree: true);
        _process.WaitForExit();
        _process.Dispose();
        _folder?.Delete(recursive: true);
    }

    private static ServerProcess Start(string program, string file, string flags, int port)
    {
        if (port == 0) port = FreePorts.Next();
        DirectoryInfo folder = Directory.CreateTempSubdirectory("garnet-wire-");
        ProcessStartInfo start = new(program, $"{file} --port {port} {flags}".Trim())
        {
            WorkingDirectory = folder.FullName,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        Process process = Process.Start(start)!;
        ServerProcess server = new(new IPEndPoint(IPAddress.Loopback, port), process, folder);
        process.OutputDataReceived += server.Keep;
        process.ErrorDataReceived += server.Keep;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        bool isReady = false;
        try
        {
            server.AwaitPong(program);
            isReady = true;
        }
        finally
        {
            if (!isReady) server.Dispose();
        }
        return server;
    }

    private void Keep(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is null) return;
        lock (_lines)
        {
            _lines.Enqueue(line.Data);
            if (_lines.Count > LinesKept) _lines.Dequeue();
        }
    }

    private void AwaitPong(string program)
    {
        // One that says that it reads its files is at work, and has longer.
        long begun = Stopwatch.GetTimestamp();
        for (long from = begun; !Answers(out bool isLoading); from = isLoading ? Stopwatch.GetTimestamp() : from)
        {
            // A start takes a fifth of a second of a core: to ask all the while would take as much again, of the server that starts.
            if (_process!.WaitForExit(BetweenAsksMs)) throw new InvalidOperationException($"{program} ended with code {_process.ExitCode}");
            if (Stopwatch.GetElapsedTime(from).TotalSeconds > ReadySeconds) throw new TimeoutException($"{program} did not answer PING");
            if (Stopwatch.GetElapsedTime(begun).TotalSeconds > LoadingSeconds) throw new TimeoutException($"{program} read its files for {LoadingSeconds} s");
        }
    }

    private bool Answers(out bool isLoading)
    {
        isLoading = false;
        try
        {
            using RespConnection connection = new(Address);
            connection.Send("PING\r\n"u8);
            RespNode answer = connection.Read();
            isLoading = answer.Text.StartsWith("LOADING", StringComparison.Ordinal);
            return answer.Kind is '+' or '-' && !isLoading; // NOAUTH is an answer too
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            return false;   // not listening yet, or gone
        }
    }
}
