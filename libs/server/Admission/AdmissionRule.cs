using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>One rule in its place.</summary>
/// <param name="name">As the table in ARCHITECTURE.md has it.</param>
/// <param name="askers">For whom it is asked.</param>
/// <param name="ask">What it says.</param>
internal readonly unsafe struct AdmissionRule(string name, Asker askers, delegate*<ref Call, in Question, AdmissionResult> ask)
{
    internal readonly string Name = name;
    internal readonly Asker Askers = askers;
    internal readonly delegate*<ref Call, in Question, AdmissionResult> Ask = ask;
}
