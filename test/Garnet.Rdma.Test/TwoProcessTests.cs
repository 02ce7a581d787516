using System.Diagnostics;
using Garnet.Bulk;
using NUnit.Framework;

namespace Garnet.Rdma.Test;

/// <summary>The sample (playground/BulkCopy) between two processes, as a person starts it.</summary>
internal sealed class TwoProcessTests
{
    [Test]
    public void The_sample_copies_between_two_processes([Values("local", "tcp")] string provider, [Values("read", "write")] string direction)
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
        if (BulkLibrary.Providers.Single(known => known.Name == provider) is { IsAvailable: false } fact)
            Assert.Ignore(fact.Reason);
        using Process exposed = Start("expose", provider, "4");
        string[] told = exposed.StandardOutput.ReadLine()!.Split(' ');
        using Process copies = Start(direction, provider, told[0], told[1]);
        string said = copies.StandardOutput.ReadToEnd();
        copies.WaitForExit();
        exposed.StandardInput.Close();
        exposed.WaitForExit();
        Assert.That((copies.ExitCode, exposed.ExitCode), Is.EqualTo((0, 0)), said);
        Assert.That(said, Does.Contain("All bytes are as they should be."));
    }

    private static Process Start(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardInput = true, RedirectStandardOutput = true };
        foreach (string argument in (string[])[Path.Combine(AppContext.BaseDirectory, "bulk-copy.dll"), .. arguments])
            start.ArgumentList.Add(argument);
        return Process.Start(start)!;
    }
}
