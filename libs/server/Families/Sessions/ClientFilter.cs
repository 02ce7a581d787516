using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Families.Sessions;

/// <summary>Which connections CLIENT LIST and CLIENT KILL mean.</summary>
internal sealed class ClientFilter
{
    private string _type = "";
    private User? _user;
    private string _localAddress = "";
    private long _ageSeconds = -1;

    internal SortedSet<long> Ids { get; } = []; // no hash set: numbers that share a hash are easily made
    internal string Address { get; set; } = "";

    /// <summary>The caller, if it is to be left out.</summary>
    internal Connection? SkipSelf { get; set; }

    internal static Reply FailType(ref Call call, int argument) =>
        call.FailBytes([.. "ERR Unknown client type '"u8, .. call.Shown(argument), (byte)'\'']);

    internal bool Matches(Connection client)
    {
        if (client.IsDismissed || (_user is not null && client.User != _user))
            return false;
        if (client == SkipSelf || (Ids.Count > 0 && !Ids.Contains(client.Id)))
            return false;
        if (Address.Length > 0 && client.Peer.Remote != Address)
            return false;
        if (_localAddress.Length > 0 && client.Peer.Local != _localAddress)
            return false;
        if (_ageSeconds >= 0 && (client.Worker.NowMs - client.CreatedMs) / 1000 < _ageSeconds)
            return false;
        return _type switch
        {
            "" => true,
            "normal" => client.Subscriptions is not { Count: > 0 },
            "pubsub" => client.Subscriptions is { Count: > 0 },
            _ => false,
        };
    }

    internal bool TrySetType(string type)
    {
        _type = type.ToLowerInvariant();
        return _type is "normal" or "master" or "replica" or "slave" or "pubsub";
    }

    /// <summary>Reads pairs of filter and value; on false the error has been written.</summary>
    internal bool TryParse(ref Call call, int first, out Reply failed)
    {
        failed = Reply.Sent;
        for (int i = first; i < call.Count && failed == Reply.Sent; i += 2)
            failed = i + 1 < call.Count ? ParsePair(ref call, i) : call.Fail(Fault.Syntax);
        return failed == Reply.Sent;
    }

    private Reply ParsePair(ref Call call, int i)
    {
        if (call.Is(i, "ID"u8))
        {
            if (!call.TryInt64(i + 1, out long id) || id < 1)
                return call.FailBytes("ERR client-id should be greater than 0"u8);
            Ids.Add(id);
        }
        else if (call.Is(i, "TYPE"u8))
        {
            if (!TrySetType(call.Text(i + 1)))
                return FailType(ref call, i + 1);
        }
        else if (call.Is(i, "ADDR"u8))
        {
            Address = call.Text(i + 1);
        }
        else if (call.Is(i, "LADDR"u8))
        {
            _localAddress = call.Text(i + 1);
        }
        else if (call.Is(i, "USER"u8))
        {
            _user = call.Server.Rights.Users.Find(RuleText.Of(call[i + 1]));
            if (_user is null)
                return call.FailBytes([.. "ERR No such user '"u8, .. call.Shown(i + 1), (byte)'\'']);
        }
        else if (call.Is(i, "SKIPME"u8) && (call.Is(i + 1, "YES"u8) || call.Is(i + 1, "NO"u8)))
        {
            SkipSelf = call.Is(i + 1, "YES"u8) ? call.Client : null;
        }
        else if (call.Is(i, "MAXAGE"u8))
        {
            if (!call.TryInt64(i + 1, out _ageSeconds) || _ageSeconds < 1)
                return call.FailBytes("ERR maxage is not an integer or out of range"u8);
        }
        else
        {
            return call.Fail(Fault.Syntax);
        }

        return Reply.Sent;
    }
}
