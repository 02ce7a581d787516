using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Tiering;
using Tsavorite;

namespace Garnet.Server.Admission;

/// <summary>
/// Fetches the keys of a command that lie on the tier before it runs, all of them side by side: of a transaction before it locks, of a script
/// those that it declares. What it is not asked about, or what leaves again meanwhile, is fetched by whoever comes to it.
/// </summary>
internal sealed class FetchedKeys : IKeyRule
{
    private const int TriesMax = 3;

    /// <inheritdoc/>
    public AdmissionResult Ask(ref Call call, in KeyPositions keys, int database, bool mayWait)
    {
        if (!mayWait || !Look(ref call, in keys, database))
            return AdmissionResult.Allowed;
        bool waits = MayTry(call.Client);
        if (waits)
            call.Worker.LooksBehind?.Invoke(call.Client);
        call.Session.Tier!.BeginReads();
        return waits ? AdmissionResult.Until(new FetchWait(call.Session.Tier.TakeWanted())) : AdmissionResult.Allowed;
    }

    /// <summary>Notes what is not at hand of the keys, to be fetched with what others need; false if all are.</summary>
    internal static bool Look(ref Call call, in KeyPositions keys, int database)
    {
        if (!call.Worker.Store.Namespaces.TryId(database, out uint ns))
            return false;
        bool misses = false;
        int from = call.Client.Begun?.NextKey ?? 0, count = keys.Count - from;
        int end = from + (keys.AtOnceMax == 0 ? count : Math.Min(keys.AtOnceMax, count));
        for (int i = from; i < end; i++)
        {
            KeyRef key = call.KeyAt(keys[i], ns);
            misses |= call.Session.Tier!.Foresee(key);
        }

        return misses;
    }

    /// <summary>False once the command that the client is at has waited so often that what it needs left again each time: it waits in its run then.</summary>
    internal static bool MayTry(Connection client)
    {
        // Since it was put off last. 0: asked twice about one framing, 1: the same one, framed again. One that runs in spite of all is put off no more: what
        // comes behind it is another.
        long since = client.Commands - client.FetchCommand;
        int tries = since switch { 0 => client.FetchTries, 1 => client.FetchTries + 1, _ => 1 };
        if (tries > TriesMax)
            return false;
        (client.FetchCommand, client.FetchTries) = (client.Commands, tries);
        MemoryWait.Carry(client);
        return true;
    }
}
