using NUnit.Framework;

namespace Garnet.Wire;

/// <summary>A server of each kind for one class of tests, which for that runs beside other classes. Skips with the reason where one is not there.</summary>
internal sealed class ServerPair : IDisposable
{
    private readonly ServerProcess _ours, _redis;

    public ServerPair()
    {
        _ = (Servers.Ours, Servers.Redis); // skips with the reason when one is not there
        _ours = ServerProcess.TryStartOurs("--databases 16") ?? throw new IgnoreException("our server is not built");
        _redis = ServerProcess.TryStartRedis() ?? throw new IgnoreException("redis-server is not installed");
    }

    public ServerProcess Ours => _ours;

    public ServerProcess Redis => _redis;

    public ServerProcess Of(ServerSide side) => side == ServerSide.Ours ? _ours : _redis;

    public void Dispose()
    {
        _ours.Dispose();
        _redis.Dispose();
    }
}
