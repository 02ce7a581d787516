using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Test;

namespace Garnet.Host.Test;

/// <summary>How the executable starts and stops, the same over every transport.</summary>
[TestFixture("epoll")]
[TestFixture("sockets")]
[Platform(Include = "Linux")]
public sealed class SignalTests(string transport)
{
    private const int WaitMs = 20_000;

    [TestCase("TERM")]
    [TestCase("INT")]
    public void A_signal_closes_the_clients_and_ends_with_0(string signal)
    {
        int port = FreePorts.Next();
        using Process server = Start($"--port {port} --transport {transport}");
        WaitFor(server, "Ready to accept connections");
        using Socket client = Connect(port);
        client.Send("SET a 1\r\n"u8);
        Assert.That(Receive(client), Is.EqualTo("+OK\r\n"));
        Signal(server, signal);
        Assert.That(server.WaitForExit(WaitMs));
        Assert.That(server.ExitCode, Is.Zero);
        Assert.That(Receive(client), Is.Empty);
    }

    [Test]
    public void Signals_that_come_together_are_one()
    {
        int port = FreePorts.Next();
        using Process server = Start($"--port {port} --transport {transport}");
        WaitFor(server, "Ready to accept connections");
        // Stopped as a process, it sees both signals when it goes on.
        Signal(server, "STOP");
        Signal(server, "TERM");
        Signal(server, "INT");
        Signal(server, "CONT");
        Assert.That(server.WaitForExit(WaitMs));
        Assert.That(server.ExitCode, Is.Zero);
    }

    [Test]
    public void A_taken_port_ends_with_69()
    {
        using TcpListener taken = new(IPAddress.Loopback, 0);
        taken.Start();
        using Process process = Start($"--bind 127.0.0.1 --transport {transport} --port {((IPEndPoint)taken.LocalEndpoint).Port}");
        Assert.That(process.StandardError.ReadToEnd(), Does.Contain("cannot listen on 127.0.0.1"));
        process.WaitForExit();
        Assert.That(process.ExitCode, Is.EqualTo(69));
    }

    [TestCase("--bind nonsense")]
    [TestCase("--bind 203.0.113.7")]
    [TestCase("--maxclients 0")]
    public void A_wrong_setting_ends_with_64(string arguments)
    {
        using Process process = Start($"{arguments} --port {FreePorts.Next()} --transport {transport}");
        Assert.That(process.StandardError.ReadToEnd(), Is.Not.Empty);
        process.WaitForExit();
        Assert.That(process.ExitCode, Is.EqualTo(64));
    }

    [Test]
    public void Clients_beyond_the_limit_of_open_files_are_refused_and_the_log_names_the_limit()
    {
        int port = FreePorts.Next();
        using Process server = Start("bash", $"-c \"ulimit -n 300; exec {Program} --port {port} --transport {transport}\"");
        WaitFor(server, "maxclients 10000 cannot be reached: the limit of open files (RLIMIT_NOFILE, ulimit -n) is 300");
        WaitFor(server, "Ready to accept connections");
        List<Socket> clients = [];
        for (int i = 0; i < 250; i++) clients.Add(Connect(port));
        foreach (Socket client in clients) client.Send("PING\r\n"u8);
        List<string> answers = [.. clients.Select(Receive)];
        Assert.That(answers.Count(answer => answer == "+PONG\r\n"), Is.InRange(100, 249));
        Assert.That(answers, Is.All.AnyOf("+PONG\r\n", "-ERR max number of clients reached\r\n"));
        clients.ForEach(client => client.Dispose());
        Signal(server, "TERM");
        Assert.That(server.WaitForExit(WaitMs));
    }

    [Test]
    public void A_tier_beyond_the_limit_of_file_sizes_is_refused_with_what_to_do_and_not_by_a_signal()
    {
        string directory = Directory.CreateTempSubdirectory("limited").FullName;
        // Without that the runtime itself makes a file in memory that is larger.
        using Process server = Start("bash", $"-c \"export DOTNET_EnableWriteXorExecute=0; ulimit -f 1024; exec {Program} --port {FreePorts.Next()} --transport {transport} --tier-path {directory} --tier-size 16mb\"");
        string said = server.StandardError.ReadToEnd();
        Assert.That(server.WaitForExit(WaitMs));
        Directory.Delete(directory, recursive: true);
        Assert.That((server.ExitCode, said), Is.EqualTo((64, said)));
        Assert.That(said, Does.Contain("ulimit -f").And.Contain("tier-size"));
    }

    private static string Program => Path.Combine(
        Path.GetFullPath(Path.Combine(TestContext.CurrentContext.TestDirectory, "..", "..", "GarnetServer")),
        Path.GetFileName(TestContext.CurrentContext.TestDirectory), "garnet-server");

    private static Process Start(string arguments) => Start(Program, arguments);

    private static Process Start(string program, string arguments)
        => Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true, RedirectStandardOutput = true })!;

    private static void Signal(Process process, string name) => Process.Start("kill", $"-{name} {process.Id}").WaitForExit();

    private static void WaitFor(Process process, string text)
    {
        while (process.StandardOutput.ReadLine() is { } line)
            if (line.Contains(text, StringComparison.Ordinal)) return;
        Assert.Fail($"the server ended without saying '{text}'");
    }

    private static Socket Connect(int port)
    {
        Socket client = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = WaitMs };
        client.Connect(IPAddress.Loopback, port);
        return client;
    }

    private static string Receive(Socket client)
    {
        byte[] bytes = new byte[256];
        return Encoding.ASCII.GetString(bytes, 0, client.Receive(bytes));
    }
}
