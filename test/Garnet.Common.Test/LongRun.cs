namespace Garnet.Common.Test;

/// <summary>Whether tests that could go on for any length, or over many cases that are alike, are to look longer: CI=true.</summary>
internal static class LongRun
{
    internal static bool IsWanted { get; } = Environment.GetEnvironmentVariable("CI") == "true";

    /// <summary>Of a test that takes each its own course with several.</summary>
    internal static IEnumerable<int> Seeds => PartOf([1, 2, 3], every: 3);

    /// <summary>All of them, or in a short run one of so many; tests that differ in the first share them out.</summary>
    internal static IEnumerable<T> PartOf<T>(IEnumerable<T> all, int every, int first = 0) => all.Where((_, i) => IsWanted || i % every == first % every);
}
