using System.Diagnostics;

namespace Garnet.Load.Compare;

/// <summary>Runs a short program and reads what it prints.</summary>
internal static class Shell
{
    public static string Read(string program, string arguments)
    {
        using Process process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true })!;
        string text = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return text.Trim();
    }
}
