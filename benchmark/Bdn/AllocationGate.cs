using BenchmarkDotNet.Reports;

namespace Garnet.Bdn;

/// <summary>
/// No hot path may allocate: a benchmark that does, or that did not run, fails the whole run. For whoever runs benchmarks; what test/run.sh
/// holds of it is AllocationTests in test/Garnet.Server.Test, whole commands and in seconds.
/// </summary>
internal static class AllocationGate
{
    /// <summary>0 if every benchmark ran and allocated nothing, else 1; names those that did not.</summary>
    public static int Judge(IEnumerable<Summary> summaries)
    {
        int failed = 0;
        foreach (BenchmarkReport report in summaries.SelectMany(summary => summary.Reports))
        {
            long? bytes = report.GcStats.GetBytesAllocatedPerOperation(report.BenchmarkCase);
            if (report.Success && bytes is 0) continue;
            string fault = report.Success ? $"{bytes} bytes per operation" : "did not run";
            Console.Error.WriteLine($"{report.BenchmarkCase.DisplayInfo}: {fault}");
            failed = 1;
        }
        return failed;
    }
}
