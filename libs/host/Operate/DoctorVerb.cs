using System.Globalization;
using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>
/// The verb <c>doctor</c>: what is wrong, or could be better, with the machine for these settings and with the server that runs by them,
/// each with why, and with the one step that mends it. It changes nothing.
/// </summary>
internal static class DoctorVerb
{
    /// <summary>True if nothing is in trouble; advice does not count.</summary>
    public static bool Run(ServerSettings settings, Machine machine, TextWriter output)
    {
        var findings = new List<Finding>();
        foreach ((_, Func<Machine, ServerSettings, Finding?> look) in MachineChecks.All)
        {
            if (look(machine, settings) is { } finding)
                findings.Add(finding);
        }
        output.WriteLine($"Machine: looked at {string.Join(", ", MachineChecks.All.Select(static check => check.Name))}.");
        ServerAnswer answer = ServerAnswer.Of(settings);
        if (answer.Info is { } info)
        {
            output.WriteLine($"Server: {answer.Target} answers.");
            findings.AddRange(ServerTroubles.Of(info, DateTimeOffset.UtcNow));
            if (machine.SwappedKiB(info.Number("process_id")) is > 0 and var kib)
            {
                findings.Add(new(false, string.Create(CultureInfo.InvariantCulture, $"{kib} KiB of the server are swapped out"),
                    "who asks for a key there waits for the disk", "give it more memory, or lower maxmemory"));
            }
        }
        else
        {
            output.WriteLine($"Server: {answer.Target}: {answer.Refusal}.");
        }
        foreach (Finding one in findings.OrderByDescending(static one => one.IsTrouble))
        {
            output.WriteLine($"{(one.IsTrouble ? "TROUBLE" : "Advice")}: {one.What}: {one.Why}");
            output.WriteLine($"  {one.Next}");
        }
        int troubles = findings.Count(static one => one.IsTrouble);
        string unseen = answer.Info is null ? " The server was not looked at." : "";
        output.WriteLine($"{troubles} in trouble, {findings.Count - troubles} could be better.{unseen}");
        return troubles == 0;
    }
}
