namespace Garnet.Server.Test;

/// <summary>Which control groups a memory limit is looked for in.</summary>
internal sealed class MemoryPlanTests
{
    [TestCase("0::/", "/sys/fs/cgroup/memory.max")]
    [TestCase("0::/system.slice/garnet.service", "/sys/fs/cgroup/system.slice/garnet.service/memory.max /sys/fs/cgroup/system.slice/memory.max /sys/fs/cgroup/memory.max")]
    [TestCase("0::/a:b", "/sys/fs/cgroup/a:b/memory.max /sys/fs/cgroup/memory.max")]
    [TestCase("5:cpu,cpuacct:/x\n4:memory:/x\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes /sys/fs/cgroup/memory/memory.limit_in_bytes")]
    [TestCase("1:name=systemd:/x", "")]
    [TestCase("nonsense", "")]
    public void Each_group_around_the_process_counts(string lines, string files) =>
        Assert.That(string.Join(' ', MemoryPlan.GroupFiles(lines.Split('\n'))), Is.EqualTo(files));
}
