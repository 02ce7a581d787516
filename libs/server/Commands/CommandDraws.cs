using Garnet.Server.Clients;
using Garnet.Types.Collections;

namespace Garnet.Server.Commands;

/// <summary>
/// What the commands of a worker draw by chance. One that was put off for the tier draws the same when it is done again: it would come to another piece of its collection each time
/// otherwise, which lies on the tier too.
/// </summary>
internal sealed class CommandDraws
{
    private readonly ulong _seed = (ulong)Random.Shared.NextInt64();
    private (long Client, long Command) _last;
    private uint _draws; // of the command that runs: a script's commands are of one

    /// <summary>What the client's running command draws next.</summary>
    internal RandomBits Next(Connection client)
    {
        _draws = _last == (client.Id, client.Commands) ? _draws + 1 : 0;
        _last = (client.Id, client.Commands);
        ulong command = (ulong)(client.PutOffs?.FirstFramingOf(client.Commands) ?? client.Commands);
        return RandomBits.From(_seed ^ ((ulong)client.Id * 0xD6E8FEB86659FD93) ^ (command << 20) ^ _draws);
    }
}
