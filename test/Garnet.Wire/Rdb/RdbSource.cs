using NUnit.Framework;

namespace Garnet.Wire.Rdb;

/// <summary>A redis-server whose data is to be saved.</summary>
internal sealed class RdbSource : IDisposable
{
    private readonly ServerProcess _redis;

    public RdbSource(string flags = "")
    {
        _ = Servers.Redis; // skips with the reason when it is not there
        _redis = ServerProcess.TryStartRedis($"--enable-debug-command yes {flags}".TrimEnd()) ?? throw new IgnoreException("redis-server is not installed");
    }

    public RespConnection Connect() => new(_redis.Address);

    /// <summary>Saves and copies the file.</summary>
    public void SaveTo(string folder)
    {
        using (RespConnection redis = Connect()) Assert.That(redis.Call("SAVE").ToString(), Is.EqualTo("+OK"));
        File.Copy(Path.Combine(_redis.Folder, "dump.rdb"), Path.Combine(folder, "dump.rdb"));
    }

    public void Dispose() => _redis.Dispose();
}
