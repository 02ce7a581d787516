using Garnet.Common;
using Garnet.Replication;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>Makes what a replica follows with: the follower, which has the data for as long as the role lasts, and a link for each primary.</summary>
internal sealed class Followers(ServerCore server, NodeLog log, Func<ReplayTable> replay, Adoption adoption, RoleAccess access, Moves moves)
{
    /// <summary>The data of a replica.</summary>
    internal Follower Make()
    {
        int threads = server.Settings.Replication.ApplyThreads;
        if (threads == 0)
            threads = Math.Max(1, Environment.ProcessorCount / 2);
        return new Follower(server.Store, log, replay(), access.Applied, threads == 1 ? 0 : threads)
        {
            TermBegan = adoption.OnTermBegan, Began = adoption.OnBegan, OldGivenUp = server.Log.OldGivenUp,
            MemoryBytesMax = () => server.MemoryLimitBytes,
        };
    }

    /// <summary>The link to a primary.</summary>
    internal Following Follow(Follower follower, Peer primary) => new(server, follower, primary, adoption, moves, access.Reads);
}
