using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Test;

namespace Garnet.Host.Test;

/// <summary>The executable from outside: exit codes, signals, health check.</summary>
public sealed class ProcessTests
{
    /// <summary>A server that starts where it should refuse is ended after this long, so that its test fails.</summary>
    private const int DeadlineMs = 30_000, LookMs = 100;
    private static readonly List<Timer> s_deadlines = [];

    [TestCase("--port abc", 64, "port 'abc'")]
    [TestCase("--appendonly perhaps", 64, "appendonly 'perhaps'")]
    [TestCase("--dir /proc/garnet", 77, "/proc/garnet")]
    [TestCase("--dir /proc/garnet/x", 77, "it cannot be made in /proc (")]
    [TestCase("--dir /etc/passwd", 64, "/etc/passwd is a file, not a directory")]
    [TestCase("--dir /etc/passwd/x", 64, "/etc/passwd is a file, not a directory")]
    [TestCase("--cluster-enabled yes", 64, "no cluster mode yet")]
    [TestCase("/nonexistent.conf", 64, "cannot read the configuration file")]
    [TestCase("--logfile /nonexistent/log", 77, "cannot open the log file")]
    public void A_refused_start_has_a_code_and_says_why(string arguments, int code, string reason)
    {
        using Process process = Start(arguments);
        string said = process.StandardError.ReadToEnd();
        process.WaitForExit();
        Assert.That((process.ExitCode, said), Is.EqualTo((code, said)));
        Assert.That(said, Does.Contain(reason).And.Not.Contain("..\n"));
    }

    // A limit of the size of files is to a process what a full disk is; .NET itself has a file in memory by default.
    [Test]
    public void A_start_that_can_write_nothing_ends_with_65_and_says_why()
    {
        using var folder = new TestFolder();
        string command = $"--port {FreePorts.Next()} --dir {folder.Path}/data";
        using Process shell = Track(Process.Start(
            new ProcessStartInfo("/bin/sh", ["-c", $"ulimit -f 0; export DOTNET_EnableWriteXorExecute=0; exec {Executable} {command}"]) { RedirectStandardError = true })!);
        string said = shell.StandardError.ReadToEnd();
        shell.WaitForExit();
        Assert.That((shell.ExitCode, said), Is.EqualTo((65, said)));
        Assert.That(said, Does.StartWith("garnet-server: the data directory cannot be used: "));
    }

    [Test]
    public void A_taken_port_ends_with_69()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        using Process process = Start($"--bind 127.0.0.1 --port {((IPEndPoint)taken.LocalEndpoint).Port}");
        process.StandardError.ReadToEnd();
        process.WaitForExit();
        Assert.That(process.ExitCode, Is.EqualTo(69));
    }

    [Test]
    public void A_taken_admin_port_ends_with_69_and_says_why()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        using Process process = Start($"--port {FreePorts.Next()} --admin-bind 127.0.0.1 --admin-port {((IPEndPoint)taken.LocalEndpoint).Port}");
        string said = process.StandardError.ReadToEnd();
        process.WaitForExit();
        Assert.That((process.ExitCode, said), Is.EqualTo((69, said)));
        Assert.That(said, Does.Contain("admin-port cannot be opened at 127.0.0.1 port"));
    }

    [Test]
    public void Operators_are_answered_by_HTTP_while_the_server_runs_and_a_signal_stops_both()
    {
        int adminPort = FreePorts.Next();
        using Process server = Start($"--port {FreePorts.Next()} --admin-port {adminPort}");
        WaitFor(server, "Ready to accept connections");
        using var client = new TcpClient("127.0.0.1", adminPort) { ReceiveTimeout = DeadlineMs };
        client.GetStream().Write("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"u8);
        using var reader = new StreamReader(client.GetStream());
        Assert.That(reader.ReadToEnd(), Does.StartWith("HTTP/1.1 200 OK\r\n").And.EndWith("snapshot: ok\n"));
        using var stream = new TcpClient("127.0.0.1", adminPort) { ReceiveTimeout = DeadlineMs };
        stream.GetStream().Write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"u8);
        Assert.That(stream.GetStream().ReadByte(), Is.EqualTo('H'), "a page is looked at");
        Process.Start("kill", $"-TERM {server.Id}").WaitForExit();
        server.WaitForExit();
        Assert.That(server.ExitCode, Is.Zero);
    }

    [Test]
    public void A_server_answers_its_health_check_and_a_signal_stops_it_with_0()
    {
        int port = FreePorts.Next();
        using Process server = Start($"--port {port}");
        WaitFor(server, "Ready to accept connections");
        Assert.That(Exit($"ping --port {port}"), Is.Zero);
        Assert.That(Exit($"status --port {port}"), Is.Zero);
        using (Process watch = Start($"status --watch --port {port}"))
        {
            Assert.That(watch.StandardOutput.ReadLine(), Does.EndWith(" healthy"));
            watch.StandardOutput.Close(); // nobody reads any more
            watch.WaitForExit();
            Assert.That(watch.ExitCode, Is.EqualTo(1));
        }
        Assert.That(Exit($"doctor --port {port}"), Is.Zero.Or.EqualTo(1), "the machine is as it is");
        Process.Start("kill", $"-TERM {server.Id}").WaitForExit();
        server.WaitForExit();
        Assert.That(server.ExitCode, Is.Zero);
        Assert.That(Exit($"ping --port {port}"), Is.EqualTo(1));
        Assert.That(Exit($"status --port {port}"), Is.EqualTo(1));
    }

    [TestCase(false)]
    [TestCase(true)]
    public void A_stop_comes_to_its_end_though_a_command_does_not(bool again)
    {
        int port = FreePorts.Next();
        using Process server = Start($"--port {port} --shutdown-timeout 0 --reactor-threads 1");
        WaitFor(server, "Ready to accept connections");
        using TcpClient client = new("127.0.0.1", port), other = new("127.0.0.1", port) { ReceiveTimeout = 2000 };
        Hang(client, other);
        Signal(server, "TERM");
        if (again)
        {
            for (int looks = 0; !server.WaitForExit(LookMs) && looks < DeadlineMs / LookMs; looks++) Signal(server, "INT");
            Assert.That(server.StandardOutput.ReadToEnd(), Does.Not.Contain("A command has not ended"));
        }
        else
        {
            WaitFor(server, "A command has not ended 10 s after the stop was asked for");
            server.WaitForExit();
        }
        Assert.That(server.ExitCode, Is.EqualTo(1));
    }

    [Test]
    public void A_stop_that_takes_the_last_snapshot_waits_for_the_command()
    {
        using var folder = new TestFolder();
        int port = FreePorts.Next();
        using Process server = Start($"--port {port} --shutdown-timeout 0 --reactor-threads 1 --dir {folder.Path} --appendonly no");
        WaitFor(server, "Ready to accept connections");
        using TcpClient client = new("127.0.0.1", port), other = new("127.0.0.1", port) { ReceiveTimeout = 2000 };
        Hang(client, other);
        Signal(server, "TERM");
        WaitFor(server, "The stop waits for it, as the last snapshot is still to be taken");
        Assert.That(server.HasExited, Is.False);
        Signal(server, "TERM");
        server.WaitForExit();
        Assert.That(server.ExitCode, Is.EqualTo(1));
    }

    [Test]
    public void Where_it_listens_and_that_it_has_stopped_is_said_once()
    {
        using var folder = new TestFolder();
        using Process server = Start($"--port {FreePorts.Next()} --dir {folder.Path}");
        var said = new List<string>();
        while (said is not [.., { } last] || !last.Contains("Ready to accept", StringComparison.Ordinal))
            said.Add(server.StandardOutput.ReadLine() ?? throw new EndOfStreamException("it ended: " + string.Join('\n', said)));
        Process.Start("kill", $"-TERM {server.Id}").WaitForExit();
        said.AddRange(server.StandardOutput.ReadToEnd().Split('\n'));
        Assert.That(said, Has.One.Contains("Listening on").And.One.Contains("Stopped").And.None.Contains("0:0:"));
    }

    [Test]
    public void A_server_of_a_script_that_ignores_the_interrupt_heeds_it()
    {
        string arguments = $"--port {FreePorts.Next()}";
        using Process server = Track(Process.Start(new ProcessStartInfo("/bin/sh", ["-c", $"trap '' INT; exec {Executable} {arguments}"]) { RedirectStandardOutput = true })!);
        WaitFor(server, "Ready to accept connections");
        Process.Start("kill", $"-INT {server.Id}").WaitForExit();
        Assert.That(server.WaitForExit(DeadlineMs / 2), Is.True);
        Assert.That(server.ExitCode, Is.Zero);
    }

    [Test]
    public void An_answer_into_a_file_that_others_write_to_stands_between_what_they_write()
    {
        using var folder = new TestFolder();
        string file = Path.Combine(folder.Path, "said"), ask = $"{Executable} doctor --json --port {FreePorts.Next()}";
        using Process shell = Track(Process.Start("/bin/sh", ["-c", $"(echo before; {ask}; echo after) > {file}"])!);
        shell.WaitForExit();
        Assert.That(File.ReadAllText(file), Does.Match(@"\Abefore\n\{(.|\n)+\}\nafter\n\z"));
    }

    [TestCase("doctor --port {0}", "No space left on device")]
    [TestCase("check {1}", "lines are lost")]
    public void An_answer_that_finds_no_room_is_an_error(string words, string why)
    {
        using var folder = new TestFolder();
        if (words.StartsWith("check", StringComparison.Ordinal))
            RunOnce(folder.Path);
        string command = string.Format(CultureInfo.InvariantCulture, words, FreePorts.Next(), folder.Path);
        using Process shell = Track(Process.Start(
            new ProcessStartInfo("/bin/sh", ["-c", $"exec {Executable} {command} > /dev/full"]) { RedirectStandardError = true })!);
        string said = shell.StandardError.ReadToEnd();
        shell.WaitForExit();
        Assert.That(shell.ExitCode, Is.EqualTo(1), said);
        Assert.That(said, Does.Match($@"\Agarnet-server: the answer cannot be written: .*{why}\n\z"));
    }

    // Leaves a data directory.
    private static void RunOnce(string directory)
    {
        using Process server = Start($"--port {FreePorts.Next()} --dir {directory}");
        WaitFor(server, "Ready to accept connections");
        Process.Start("kill", $"-TERM {server.Id}").WaitForExit();
        server.WaitForExit();
    }

    private static int Exit(string arguments)
    {
        using Process process = Start(arguments);
        process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode;
    }

    private static string Executable => Path.GetFullPath(Path.Combine(
        TestContext.CurrentContext.TestDirectory, "..", "..", "GarnetServer", Path.GetFileName(TestContext.CurrentContext.TestDirectory), "garnet-server"));

    private static Process Start(string arguments) =>
        Track(Process.Start(new ProcessStartInfo(Executable, arguments) { RedirectStandardError = true, RedirectStandardOutput = true })!);

    private static Process Track(Process process)
    {
        s_deadlines.Add(new Timer(static one => ((Process)one!).Kill(), process, DeadlineMs, Timeout.Infinite));
        return process;
    }

    [TearDown]
    public void EndDeadlines()
    {
        s_deadlines.ForEach(static deadline => deadline.Dispose());
        s_deadlines.Clear();
    }

    // Runs a command of 2 x 10^10 look-ups, and returns when nobody else is answered any more.
    private static void Hang(TcpClient client, TcpClient other)
    {
        client.Client.Send(Command(["SADD", "s", .. Enumerable.Range(0, 200_000).Select(static member => member.ToString())]));
        Assert.That(client.GetStream().ReadByte(), Is.EqualTo(':'));
        client.Client.Send(Command(["SINTERCARD", "100000", .. Enumerable.Repeat("s", 100_000)]));
        Assert.That(SpinWait.SpinUntil(() => !Answers(other), 60_000), Is.True, "it answers, whatever runs");

        static byte[] Command(string[] words)
            => Encoding.ASCII.GetBytes($"*{words.Length}\r\n{string.Concat(words.Select(static word => $"${word.Length}\r\n{word}\r\n"))}");
    }

    private static bool Answers(TcpClient client)
    {
        client.Client.Send("PING\r\n"u8);
        try
        {
            return client.Client.Receive(new byte[7]) > 0;
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock)
        {
            return false;
        }
    }

    private static void Signal(Process process, string name) => Process.Start("kill", $"-{name} {process.Id}").WaitForExit();

    private static void WaitFor(Process process, string text)
    {
        while (process.StandardOutput.ReadLine() is { } line)
            if (line.Contains(text, StringComparison.Ordinal)) return;
        Assert.Fail($"the server ended without saying '{text}'");
    }
}
