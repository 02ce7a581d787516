using NUnit.Framework;

namespace Garnet.Wire;

/// <summary>One server of each kind for the whole run. Tests that need one that is not there are skipped with the reason.</summary>
[SetUpFixture]
public sealed class Servers
{
    private static readonly Lazy<ServerProcess?> LazyOurs = new(() => ServerProcess.TryStartOurs());
    private static readonly Lazy<ServerProcess?> LazyRedis = new(() => ServerProcess.TryStartRedis());

    internal static ServerProcess Ours => LazyOurs.Value ?? Missing("our server is not built: dotnet build main/GarnetServer -c Release", "GARNET_WIRE_REQUIRED");

    internal static ServerProcess Redis => LazyRedis.Value ?? Missing("redis-server is not installed", "GARNET_WIRE_REDIS_REQUIRED");

    internal static ServerProcess Of(ServerSide side) => side == ServerSide.Ours ? Ours : Redis;

    [OneTimeTearDown]
    public void Stop()
    {
        if (LazyOurs.IsValueCreated) LazyOurs.Value?.Dispose();
        if (LazyRedis.IsValueCreated) LazyRedis.Value?.Dispose();
    }

    private static ServerProcess Missing(string reason, string variable)
    {
        if (Environment.GetEnvironmentVariable(variable) == "1") Assert.Fail(reason);
        Assert.Ignore(reason);
        throw new InvalidOperationException(reason);
    }
}
