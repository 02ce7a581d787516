using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Garnet.Load.Machine;

namespace Garnet.Load.Compare;

/// <summary>One started server: answers PING, owns its port, and is killed on disposal.</summary>
internal sealed class RunningPeer : IDisposable
{
    private const double ReadySeconds = 30;

    private readonly Process _process;

    private RunningPeer(Peer peer, Process process, int port)
    {
        Peer = peer;
        _process = process;
        Server = new IPEndPoint(IPAddress.Loopback, port);
    }

    public Peer Peer { get; }

    public IPEndPoint Server { get; }

    public int Pid => _process.Id;

    public double StartMs { get; private set; }

    public long StartRss { get; private set; }

    /// <summary>The moment the process was started.</summary>
    public long StartedAt { get; private set; }

    public static RunningPeer Start(Peer peer, int core, bool awaitsPong = true)
    {
        int port = FreePort();
        ProcessStartInfo start = peer.StartInfo(port, core);
        long from = Stopwatch.GetTimestamp();
        Process process = Process.Start(start)!;
        process.OutputDataReceived += (_, _) => { };
        process.ErrorDataReceived += (_, _) => { };
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        RunningPeer running = new(peer, process, port) { StartedAt = from };
        if (!awaitsPong) return running;
        bool isReady = false;
        try
        {
            running.AwaitPong();
            running.StartMs = Stopwatch.GetElapsedTime(from).TotalMilliseconds;
            running.StartRss = ServerClock.ReadRss(process.Id);
            isReady = running.OwnsPort();
        }
        finally
        {
            if (!isReady) running.Dispose();
        }
        if (!isReady) throw new InvalidOperationException($"port {port} belongs to another process than {peer.Name}");
        return running;
    }

    /// <summary>A field of INFO, empty if the server does not have it.</summary>
    public string Field(string section, string name) =>
        Ask($"INFO {section}").Split('\n').FirstOrDefault(line => line.StartsWith(name + ":", StringComparison.Ordinal))?[(name.Length + 1)..].Trim() ?? "";

    /// <summary>The beginning of the reply to an inline command; empty if nobody answers.</summary>
    public string Ask(string command)
    {
        using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = 5000 };
        try
        {
            socket.Connect(Server);
            socket.Send(System.Text.Encoding.ASCII.GetBytes(command + "\r\n"));
            byte[] reply = new byte[16384];
            return System.Text.Encoding.ASCII.GetString(reply, 0, socket.Receive(reply));
        }
        catch (SocketException)
        {
            return "";
        }
    }

    /// <summary>Ends it at once, without waiting until it is gone.</summary>
    public void Kill() => _process.Kill(entireProcessTree: true);

    /// <summary>Stops it where it is, or lets it go on.</summary>
    public void Pause(bool isPaused) => Shell.Read("kill", $"-{(isPaused ? "STOP" : "CONT")} {Pid}");

    public void Dispose()
    {
        if (!_process.HasExited) _process.Kill(entireProcessTree: true);
        _process.WaitForExit();
        _process.Dispose();
    }

    private static int FreePort()
    {
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private void AwaitPong()
    {
        long from = Stopwatch.GetTimestamp();
        while (!TryPing())
        {
            if (_process.HasExited) throw new InvalidOperationException($"{Peer.Name} ended with code {_process.ExitCode} before it answered");
            if (Stopwatch.GetElapsedTime(from).TotalSeconds > ReadySeconds) throw new TimeoutException($"{Peer.Name} did not answer PING");
            Thread.Yield();
        }
    }

    private bool TryPing()
    {
        using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = 1000 };
        try
        {
            socket.Connect(Server);
            socket.Send("*1\r\n$4\r\nPING\r\n"u8);
            byte[] reply = new byte[7];
            int bytes = socket.Receive(reply);
            return bytes > 0 && reply[0] == (byte)'+';
        }
        catch (SocketException)
        {
            return false;   // not listening yet
        }
    }

    // The inode of the listening socket must be among the descriptors of the process.
    private bool OwnsPort()
    {
        string local = ":" + Server.Port.ToString("X4", CultureInfo.InvariantCulture);
        foreach (string line in File.ReadLines("/proc/net/tcp").Concat(File.ReadLines("/proc/net/tcp6")))
        {
            string[] fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (fields.Length < 10 || fields[3] != "0A" || !fields[1].EndsWith(local, StringComparison.Ordinal)) continue;
            string wanted = $"socket:[{fields[9]}]";
            if (Directory.EnumerateFiles($"/proc/{Pid}/fd").Any(f => new FileInfo(f).LinkTarget == wanted)) return true;
        }
        return false;
    }
}
