using Garnet.Common;
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
    // Of one command: one that comes to more has got on for long enough, or counts by itself how far it is.
    private const int FetchedMax = 4096;

    private const string Refusal = "OOM the command names too many values on the tier", Next = "name fewer at a time";
    private const string Why = "they cannot be at hand together; nothing was changed, " + Next;

    /// <inheritdoc/>
    public void Begin(ref Call call) => call.Session.Tier!.BeginNamed();

    /// <inheritdoc/>
    public AdmissionResult Ask(ref Call call, in KeyPositions keys, int database, bool mayBePutOff)
    {
        if (!mayBePutOff)
            return AdmissionResult.Allowed;
        if (call.Client.PutOffs?.FetchTooMuchIn == call.Client.Commands)
            return AdmissionResult.Refused($"{Refusal}: {Why}");
        Look(ref call, in keys, database);
        return AdmissionResult.Allowed;
    }

    /// <inheritdoc/>
    public AdmissionResult Settle(ref Call call, bool mayBePutOff)
    {
        if (!mayBePutOff || !call.Session.Tier!.HasMissing)
            return AdmissionResult.Allowed;
        call.Session.Tier.EndNamed();
        bool waits = MayTry(call.Client, call.Session.Tier, call.Session.Tier.FirstMissing);
        if (waits)
            call.Worker.LooksBehind?.Invoke(call.Client);
        call.Session.Tier.BeginReads();
        return waits ? AdmissionResult.Until(new FetchWait(call.Session.Tier.TakeWanted(), call.Client)) : AdmissionResult.Allowed;
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
            misses |= call.Session.Tier!.Foresee(key, keys.HeadsDo);
        }

        return misses;
    }

    /// <summary>
    /// False once the command that the client is at has waited so often for what it had waited for before, since that left again each time: it waits in its run then. What it
    /// comes to for the first time (0: that says nothing) shows that it has got on: it may have to read one thing to know the next, on a disk that takes its time for each.
    /// </summary>
    internal static bool MayTry(Connection client, SessionTier tier, ulong missing)
    {
        // Since it was put off last. 0: asked twice about one framing, 1: the same one, framed again. One that runs in spite of all is put off no more: what
        // comes behind it is another.
        PutOffs noted = client.NotedPutOffs;
        long since = client.Commands - noted.FetchCommand;
        if (since > 1)
        {
            (noted.Fetched, noted.FetchedFirst, noted.FetchIsFirst) = (null, missing, false); // most are put off once
            noted.FetchFirstCommand = client.Commands;
        }
        else if (!noted.FetchIsFirst && tier.IsFirst) // what it had to give up before, for others, shows nothing
            (noted.Fetched, noted.FetchedFirst, noted.FetchTries, noted.FetchIsFirst) = (null, missing, 0, true);
        bool getsOn = since == 1 && missing != 0 && noted.FetchHeldIn != client.Commands
            && (noted.Fetched ??= [noted.FetchedFirst]).Count < FetchedMax && noted.Fetched.Add(missing);
        int tries = since switch { 0 => noted.FetchTries, 1 => noted.FetchTries + (getsOn ? 0 : 1), _ => 1 };
        if (tries > TriesMax)
        {
            noted.FetchHeldIn = client.Commands;
            return false;
        }

        (noted.FetchCommand, noted.FetchTries) = (client.Commands, tries);
        MemoryWait.Carry(client);
        return true;
    }

    /// <summary>The error of a command that has found out in its run that it names more than can be at hand together.</summary>
    internal static GarnetException TooMuch() => new(ExitKind.Data, Refusal, Why, Next);

    /// <summary>The running command knows itself that it has got on: it may be put off as often again.</summary>
    internal static void HasGotOn(Connection client)
    {
        if (client.PutOffs is { } noted)
            noted.FetchTries = 0;
    }
}
