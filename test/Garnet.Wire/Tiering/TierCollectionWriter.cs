namespace Garnet.Wire.Tiering;

/// <summary>
/// One client of the kill loop over collections on a tier. It has keys of its own and sends one change at a time, or one transaction of two keys, so that no more than that
/// is in doubt when the server dies.
/// </summary>
internal sealed class TierCollectionWriter(int number, int keys) : KilledWriter(number)
{
    private const string Types = "hslzx";
    private const int DemotedAtOnce = 8; // so that the tier is written all round within a life or two
    private const int ReadsAtOnce = 4; // that brings the piece back, if it lay on the tier

    private readonly KilledCollection[] _acknowledged = [.. Enumerable.Range(0, keys).Select(i => new KilledCollection($"w{number}:{i}", Types[i % Types.Length]))];
    private readonly Dictionary<int, KilledCollection> _doubtful = [];

    /// <inheritdoc/>
    public override string? Check(RespConnection connection)
    {
        bool? happened = null;
        for (int i = 0; i < keys; i++)
        {
            RespNode found = connection.Call(_acknowledged[i].Ask());
            string? before = _acknowledged[i].Differs(found);
            if (!_doubtful.TryGetValue(i, out KilledCollection? after))
            {
                if (before is not null) return before;
                continue;
            }

            string? with = after.Differs(found);
            if (before is not null && with is not null) return $"{before}; or, with what was in doubt, {with}";
            if (before is null && with is null) continue; // the change left it as it was
            if (happened == (before is not null)) continue;
            if (happened is not null) return $"{after.Key}: half of a transaction has happened";
            happened = before is not null;
        }

        if (happened == true) Take(_doubtful);
        _doubtful.Clear();
        return null;
    }

    protected override void Step(RespConnection connection)
    {
        int i = Random.Next(keys);
        switch (Random.Next(12))
        {
            case 0:
                string[] peek = _acknowledged[i].Peek(Random);
                for (int read = 0; read < ReadsAtOnce; read++) Judge(connection.Call(peek));
                break;
            case 1:
                for (int more = 0; more < DemotedAtOnce; more++) Judge(connection.Call("TIER.DEMOTE", _acknowledged[(i + more) % keys].Key));
                break;
            case < 4:
                if (_acknowledged[i].Differs(connection.Call(_acknowledged[i].Ask())) is { } wrong) Wrong = wrong;
                break;
            case 4:
                Change(connection, i, (i + 1 + Random.Next(keys - 1)) % keys);
                break;
            default:
                Change(connection, i);
                break;
        }
    }

    private void Change(RespConnection connection, int one)
    {
        KilledCollection after = _acknowledged[one].Copy();
        string[] words = after.Change(Random);
        _doubtful[one] = after;
        Settle(connection.Call(words), one);
        _doubtful.Clear();
    }

    private void Change(RespConnection connection, int one, int other)
    {
        string[][] commands = [.. ((int[])[one, other]).Select(i => (_doubtful[i] = _acknowledged[i].Copy()).Change(Random))];
        connection.Send([.. ((string[][])[["MULTI"], .. commands, ["EXEC"]]).SelectMany(static words => RespConnection.Encode(words))]);
        RespNode reply = connection.Read();
        for (int i = 0; i < commands.Length + 1; i++) reply = connection.Read();
        if (reply.Items is { Count: 2 } replies)
        {
            Settle(replies[0], one);
            Settle(replies[1], other);
        }
        else if (!reply.Text.StartsWith("EXECABORT", StringComparison.Ordinal)) Wrong = $"EXEC: {reply}";
        _doubtful.Clear();
    }

    private void Settle(RespNode reply, int key)
    {
        Judge(reply);
        if (reply.Kind == '-') return;
        _acknowledged[key] = _doubtful[key];
        Acknowledged++;
    }

    private void Take(Dictionary<int, KilledCollection> changes)
    {
        foreach ((int key, KilledCollection after) in changes) _acknowledged[key] = after;
    }

    private void Judge(RespNode reply)
    {
        if (reply.Kind == '-' && !reply.Text.StartsWith("OOM", StringComparison.Ordinal)) Wrong = reply.ToString();
    }
}
