namespace Garnet.Common.Test;

/// <summary>Whether tests that could go on for any length are to look longer: CI=true.</summary>
internal static class LongRun
{
    internal static bool IsWanted { get; } = Environment.GetEnvironmentVariable("CI") == "true";
}
