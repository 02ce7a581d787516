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
    public static bool Run(ServerSettings settings, Machine machine, bool asJson, TextWriter output)
    {
        var findings = new List<Finding>();
        foreach ((_, Func<Machine, ServerSettings, Finding?> look) in MachineChecks.All)
        {
            if (look(machine, settings) is { } finding)
                findings.Add(finding);
        }
        ServerAnswer answer = ServerAnswer.Of(settings);
        if (answer.Info is { } info)
        {
            findings.AddRange(ServerTroubles.Of(info, DateTimeOffset.UtcNow));
            if (machine.SwappedKiB(info.Number("process_id")) is > 0 and var kib)
            {
                findings.Add(new(false, string.Create(CultureInfo.InvariantCulture, $"{kib} KiB of the server are swapped out"),
                    "who asks for a key there waits for the disk", "give it more memory, or lower maxmemory"));
            }
        }
        findings = [.. findings.OrderByDescending(static one => one.IsTrouble)];
        int troubles = findings.Count(static one => one.IsTrouble);
        if (asJson)
            output.WriteLine(Json(answer, troubles, findings));
        else
            Say(answer, troubles, findings, output);
        return troubles == 0;
    }

    private static void Say(ServerAnswer answer, int troubles, List<Finding> findings, TextWriter output)
    {
        output.WriteLine($"Machine: looked at {string.Join(", ", MachineChecks.All.Select(static check => check.Name))}.");
        output.WriteLine(answer.Info is null ? $"Server: {answer.Target}: {answer.Refusal}." : $"Server: {answer.Target} answers.");
        foreach (Finding one in findings)
        {
            output.WriteLine($"{(one.IsTrouble ? "TROUBLE" : "Advice")}: {one.What}: {one.Why}");
            output.WriteLine($"  {one.Next}");
        }
        string unseen = answer.Info is null ? " The server was not looked at." : "";
        output.WriteLine($"{troubles} in trouble, {findings.Count - troubles} could be better.{unseen}");
    }

    // Not "healthy", as in the answer of status: a server that is not there is no trouble of the machine.
    private static string Json(ServerAnswer answer, int troubles, List<Finding> findings) => AnswerJson.Of(json =>
    {
        json.WriteNumber("troubles", troubles);
        json.WriteStartArray("looked_at");
        foreach ((string name, _) in MachineChecks.All)
            json.WriteStringValue(name);
        json.WriteEndArray();
        json.WriteString("address", answer.Target.ToString());
        json.WriteBoolean("answers", answer.Info is not null);
        if (answer.Info is null)
            json.WriteString("refusal", answer.Refusal);
        AnswerJson.Write(json, findings);
    });
}
