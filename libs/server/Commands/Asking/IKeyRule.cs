namespace Garnet.Server.Commands;

/// <summary>
/// Is asked about the keys of a command before it takes a lock: whether this server answers for them, or has them at hand. The keys are those
/// that its arguments name (<see cref="KeySpec"/>). Whoever fills this rule must see himself to what it is not asked about:
/// keys that follow from data, by SORT with BY or GET (<see cref="Clients.CommandFlags.OtherKeys"/>), which are looked up while it runs: refuse such a command
/// by the one key that it names, or have all of them at hand;
/// KEYS, SCAN, RANDOMKEY, DBSIZE, FLUSHDB, FLUSHALL and SWAPDB, which name no key and mean all of a database: what is neither in the store nor on its tier
/// does not exist for them, and SWAPDB changes under which number keys are found. The tier need not be asked about: its keys stand in the store's index, the
/// store itself fetches what such a command comes to, and the rule for it (<see cref="AdmissionHooks.Ahead"/>) is there to be early only;
/// shard channels (SSUBSCRIBE, SUNSUBSCRIBE, SPUBLISH), which belong to the servers that their slots do, and are no keys;
/// keys that a script does not declare: each is asked about at its call, which can be refused but not wait.
/// A command that has waited for a key (BLPOP and the like) is asked about again before it is served, on the thread of whoever wrote the key; nobody asks
/// about it as long as nothing is written.
/// </summary>
internal interface IKeyRule
{
    /// <summary>
    /// It is asked about a command from here on: what it has noted of another, which may have been refused or have failed, is nothing to this one. All reactors ask the one rule at once:
    /// what it notes of a command belongs to the call's session, or to the thread. Each call of a script begins anew.
    /// </summary>
    void Begin(ref Call call)
    {
    }

    /// <summary>
    /// May refuse, or let the command wait where <paramref name="mayBePutOff"/>: it is framed and asked about again then. Called again for
    /// the next command of a transaction, and for the key that COPY or MOVE has in another database.
    /// </summary>
    AdmissionResult Ask(ref Call call, in KeyPositions keys, int database, bool mayBePutOff);

    /// <summary>Behind the last <see cref="Ask"/> of the command (EXEC: of all that it will run), if each was allowed; also where there was none, as it has no key. May answer as that does.</summary>
    AdmissionResult Settle(ref Call call, bool mayBePutOff) => AdmissionResult.Allowed;
}
