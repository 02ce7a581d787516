namespace Garnet.Server.Telemetry;

/// <summary>Something that must hold for a server to be sent clients.</summary>
/// <param name="Name">One word.</param>
/// <param name="Problem">Why it does not hold, a few words without secrets; empty if it does.</param>
public sealed record ReadyCondition(string Name, string Problem)
{
    /// <summary>True if it holds.</summary>
    public bool Holds => Problem.Length == 0;
}
