using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>
/// A client that takes tokens from one server to another: whoever says of one that all it covers can be read there has it in its history.
/// Its choices are drawn apart from the world's, so that they change nothing there.
/// </summary>
internal sealed class TokenBearer(World world, Random random)
{
    private const int TokensMax = 24, TakeEvery = 40, ShowEvery = 15;

    private readonly List<((uint Term, ulong Batch, uint Owner) Token, Lineage Of)> _tokens = [];

    public void Step()
    {
        if (random.Next(TakeEvery) == 0) Take();
        if (_tokens.Count > 0 && random.Next(ShowEvery) == 0) Show();
    }

    private void Take()
    {
        if (SomeNode() is not { IsReadable: true } node) return;
        (uint Term, ulong Batch, uint Owner) token = node.Token();
        if (token.Batch == 0) return; // it covers nothing
        if (token.Owner == 0 && world.Fault != SimulationFault.NoOwners) world.Figures.Tell?.Invoke($"{world.Now} token {token} of server {node.Number}");
        if (_tokens.Count == TokensMax) _tokens.RemoveAt(random.Next(TokensMax)); // some grow old
        if (world.Fault == SimulationFault.NoOwners) token.Owner = 0;
        _tokens.Add((token, node.Lineage.MakerOf(token.Batch)));
    }

    private void Show()
    {
        if (SomeNode() is not { } node) return;
        ((uint Term, ulong Batch, uint Owner) token, Lineage of) = _tokens[random.Next(_tokens.Count)];
        TokenState state = node.Judge(token);
        if (state == TokenState.GivenUp) world.Figures.GivenUp++;
        if (state != TokenState.Reached) return;
        world.Figures.Reached++;
        if (!node.Lineage.Has(of, token.Batch))
            world.Fail($"server {node.Number} says that it has what the token {token} covers, which is of another history");
    }

    private Node? SomeNode() => world.Nodes[random.Next(world.Nodes.Length)];
}
