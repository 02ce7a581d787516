using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Keys;

/// <summary>
/// How far KEYS has come: it is put off wherever it comes to what must be read from the tier, and goes on there when it runs again, so that nobody waits for all of it. Other
/// commands run meanwhile: as with SCAN, a key that is there all the time is answered, and one that comes or goes may be.
/// </summary>
internal sealed class KeyWalk : Parking
{
    private const int KeysPerStep = 512;
    private const int KeptMax = 4; // of a worker: each may have gathered the names of all keys
    private readonly uint _namespace;
    private readonly long _merges;
    private KeyCollector _keys;
    private ulong _cursor;
    private bool _hasMoved, _wasPutOff, _isKept;

    private KeyWalk(ref Call call)
    {
        _keys = new KeyCollector(KeyCollector.PatternOf(call[1]), Tsavorite.RecordKind.None);
        _namespace = call.Namespace;
        _merges = MergesOf(ref call);
    }

    /// <summary>True if so many walks are kept that another one begins only when one of them is over: the command waits for that.</summary>
    internal static bool MustWait(ref Call call)
    {
        bool isFull = call.Worker.Gathering >= KeptMax && call.Client.Begun is not KeyWalk && call.MayPark && call.Session.Tier is not null;
        if (isFull)
            call.Worker.Park(call.Client, new Turn());
        return isFull;
    }

    /// <summary>The walk that the client's command was put off in; else a new one.</summary>
    internal static KeyWalk Taken(ref Call call)
    {
        KeyWalk walk = call.Client.Begun as KeyWalk ?? new KeyWalk(ref call);
        call.Client.Begun = null;
        walk._hasMoved = false;
        walk.Leave(call.Worker);
        return walk;
    }

    /// <summary>Goes on; false at the end.</summary>
    internal bool Step(ref Call call)
    {
        ulong from = _cursor;
        if (_hasMoved)
            FetchedKeys.HasGotOn(call.Client);
        _cursor = call.Worker.Gathering < KeptMax ? call.Session.ScanPart(_namespace, _cursor, KeysPerStep, ref _keys)
            : call.Session.Scan(_namespace, _cursor, KeysPerStep, ref _keys);
        _hasMoved |= _cursor != from;
        return _cursor != 0;
    }

    /// <summary>The command is put off, and goes on with this. How often in a row without having come further is what its patience counts.</summary>
    internal void Keep(Connection client)
    {
        client.Begun = this;
        _wasPutOff = _isKept = true;
        client.Worker.Gathering++;
        if (_hasMoved)
            FetchedKeys.HasGotOn(client);
    }

    /// <summary>Writes the reply. A part of the index that was merged between two steps was walked twice.</summary>
    internal void WriteTo(ref Call call) => _keys.WriteTo(call.Out, mayHaveTwice: _wasPutOff && MergesOf(ref call) != _merges);

    private void Leave(Worker worker)
    {
        worker.Gathering -= _isKept ? 1 : 0;
        _isKept = false;
    }

    // Without a tier nothing is put off.
    private static long MergesOf(ref Call call) => call.Session.Tier is null ? 0 : call.Server.Store.Figures().Merges;

    internal override long MemoryBytes => _keys.Capacity;

    internal override void Abandon(Connection client)
    {
        Leave(client.Worker);
        _keys.Free();
        if (_wasPutOff)
            client.Worker.Post(static (owner, _, _) => owner.ResumeWhere(static waiting => waiting is Turn));
    }

    // Of those whose walk has not begun.
    private sealed class Turn : Parking
    {
        internal override bool Resume(Worker worker, Connection client) => worker.Gathering < KeptMax;
    }

    /// <inheritdoc/>
    internal override bool Resume(Worker worker, Connection client) => true; // it is no wait itself
}
