using System.Diagnostics;
using System.Globalization;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Clients;

/// <summary>One run of a program that is a client: what it printed and how it ended. A program that is not there skips the test.</summary>
internal sealed record ClientRun(int Code, string Output, string Errors)
{
    /// <summary>How a script ends that misses something it needs; it has printed what.</summary>
    public const int MissingCode = 77;

    private const int DeadlineMs = 60_000;

    /// <summary>Runs to the end.</summary>
    public static ClientRun Of(string program, string[] arguments, string input = "")
    {
        using Process process = Start(program, arguments);
        Task<string> output = process.StandardOutput.ReadToEndAsync(), errors = process.StandardError.ReadToEndAsync();
        process.StandardInput.Write(input);
        process.StandardInput.Close();
        if (!process.WaitForExit(DeadlineMs))
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail($"{program} {string.Join(' ', arguments)} did not end");
        }
        return new ClientRun(process.ExitCode, output.InTime(), errors.InTime());
    }

    /// <summary>Runs a scenario of a script beside this file to the end.</summary>
    public static ClientRun OfScript(string script, ServerProcess server, string scenario) =>
        Of(Interpreter(script), [Script(script), server.Address.Port.ToString(CultureInfo.InvariantCulture), scenario]);

    /// <summary>The same over TLS.</summary>
    /// <param name="script">Its name.</param>
    /// <param name="tlsPort">The encrypted port.</param>
    /// <param name="scenario">What it is to do.</param>
    /// <param name="folder">Where ca.crt, client.crt and client.key lie.</param>
    public static ClientRun OfScript(string script, int tlsPort, string scenario, string folder) =>
        Of(Interpreter(script), [Script(script), tlsPort.ToString(CultureInfo.InvariantCulture), scenario, folder]);

    /// <summary>Skips the test if something was missing, fails it if the run did.</summary>
    public void Verify()
    {
        if (Code == MissingCode) Assert.Ignore(Output.Trim());
        Assert.That(Code, Is.Zero, Errors + Output);
    }

    /// <summary>Runs until it has printed the given number of lines, then ends it; those lines.</summary>
    public static string[] FirstLines(string program, string[] arguments, int count)
    {
        using Process process = Start(program, arguments);
        List<string> lines = [];
        Task reading = Task.Run(() =>
        {
            while (lines.Count < count && process.StandardOutput.ReadLine() is { } line) lines.Add(line);
        });
        bool inTime = reading.Wait(DeadlineMs);
        process.Kill(entireProcessTree: true);
        process.WaitForExit();
        Assert.That(inTime, $"{program} {string.Join(' ', arguments)} did not print {count} lines");
        return [.. lines];
    }

    /// <summary>The program's path, or a skip with the reason.</summary>
    public static string Find(string program)
    {
        string[] folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator);
        return folders.Select(folder => Path.Combine(folder, program)).FirstOrDefault(File.Exists)
            ?? throw new IgnoreException($"{program} is not installed");
    }

    /// <summary>What runs a script of this name.</summary>
    public static string Interpreter(string script) => Path.GetExtension(script) switch
    {
        ".js" => Find("node"),
        ".rb" => Find("ruby"),
        _ => File.Exists("/usr/bin/python3") ? "/usr/bin/python3" : Find("python3"),   // the one that sees Debian's packages
    };

    public static string Script(string name) => Path.Combine(AppContext.BaseDirectory, "Clients/scripts", name);

    private static Process Start(string program, string[] arguments) => Process.Start(new ProcessStartInfo(program, arguments)
    {
        RedirectStandardInput = true,
        RedirectStandardOutput = true,
        RedirectStandardError = true,
    })!;
}
