using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Tracking;

/// <summary>
/// Keyspace notifications (<c>notify-keyspace-events</c>): what a command has changed, as the notes have it, in the words of its spec
/// and in Redis's order. While the setting is empty no command comes here.
///
/// tracking.N3  Events of a command are published after it and before the next one of its connection, inside EXEC too.
/// </summary>
internal sealed class KeyEvents(ServerContext server)
{
    private NotifyClasses Classes => server.Settings.Inspect.NotifyClasses;

    /// <summary>
    /// Before a command runs: notes the keys it will look for in vain. Who asks for a key whose time has come removes it, so
    /// that the event comes now, as in Redis.
    /// </summary>
    internal void BeforeRun(ref Call call, CommandSpec spec)
    {
        if (spec.Misses == KeyMisses.None || !(Classes.Publishes(NotifyClasses.Miss) || Classes.Publishes(NotifyClasses.Expired)))
            return;
        if (spec.Misses == KeyMisses.WithGet && !HasWord(ref call, 3, static (ref Call call, int index) => call.Is(index, "GET"u8)))
            return;
        if (!KeyPositions.TryOf(ref call, spec.Keys, out KeyPositions positions))
            return;
        int looked = spec.Misses == KeyMisses.First ? 1 : positions.Count;
        for (int i = 0; i < looked; i++)
            Probe(ref call, positions[i]);
    }

    /// <summary>After a command has run: publishes what was noted.</summary>
    internal void AfterRun(ref Call call, CommandSpec spec, bool failed)
    {
        List<KeyNote> notes = call.Worker.Notes;
        List<KeyEvent?> told = call.Worker.Told;
        for (int i = 0; i < notes.Count; i++)
        {
            KeyNote note = notes[i];
            bool moves = spec.Event is { From.Length: > 0 } && i + 1 < notes.Count && notes[i + 1].Change == KeyChange.Removed;
            if (note.Missed)
                Publish(call.Worker, failed && spec.Misses != KeyMisses.AllAtOnce ? 0 : NotifyClasses.Miss, "keymiss", note);
            else if (note.Change is KeyChange.Expired or KeyChange.Evicted)
                PublishUnasked(call.Worker, note);
            else if (note.Told is not null)
                PublishServed(call.Worker, note, note.Told);
            else if (moves)
                PublishMove(call.Worker, spec.Event!, notes[++i], note);
            else if (spec.Event is { Replaces: true } && i + 1 < notes.Count && note.Change == KeyChange.Removed && notes[i + 1].Change == KeyChange.Created && note.Key.AsSpan().SequenceEqual(notes[i + 1].Key))
                PublishChange(ref call, spec, notes[++i] with { Change = KeyChange.Written });
            else if (i < told.Count)
                PublishChange(ref call, spec with { Event = told[i] }, note);
            else
                PublishChange(ref call, spec, note);
        }
    }

    /// <summary>Publishes what no command asked for.</summary>
    internal void PublishUnasked(Worker worker, KeyNote note)
    {
        if (note.Change == KeyChange.Expired)
            Publish(worker, NotifyClasses.Expired, "expired", note);
        else if (note.Change == KeyChange.Evicted)
            Publish(worker, NotifyClasses.Evicted, "evicted", note);
    }

    /// <summary>Publishes what was changed beside the commands.</summary>
    internal void PublishServed(Worker worker, KeyNote note, KeyEvent? told)
    {
        if (told is not null && note.Change is (KeyChange.Written or KeyChange.Removed))
            Publish(worker, told!.Class, told.Name, note);
        if (note.Change == KeyChange.Removed)
            Publish(worker, NotifyClasses.Generic, "del", note);
        else
            PublishUnasked(worker, note);
    }

    private void PublishChange(ref Call call, CommandSpec spec, KeyNote note)
    {
        Worker worker = call.Worker;
        if (note.Change == KeyChange.Removed && spec.Event is { Empties: true } emptied)
            Publish(worker, emptied.Class, NameOf(ref call, emptied), note);
        if (note.Change == KeyChange.Removed)
            Publish(worker, NotifyClasses.Generic, "del", note);
        else if (note.Change == KeyChange.Persisted)
            Publish(worker, NotifyClasses.Generic, "persist", note);
        else if (note.Change == KeyChange.Retimed)
            Publish(worker, NotifyClasses.Generic, "expire", note);
        if (spec.Event is not { } told || note.Change is not (KeyChange.Created or KeyChange.Written))
            return;
        if (note.Change == KeyChange.Created || told.Renews)
            Publish(worker, NotifyClasses.New, "new", note);
        Publish(worker, told.Class, NameOf(ref call, told), note);
        if (SetsExpiry(ref call, spec, told))
            Publish(worker, NotifyClasses.Generic, "expire", note);
    }

    private static string NameOf(ref Call call, KeyEvent told)
    {
        for (int i = call.Count - 1 - told.BehindWord; i > 1 && told.Word is not null; i--)
        {
            if (call.Is(i, Encoding.ASCII.GetBytes(told.Word)))
                return told.WithWord;
        }

        return told.Name;
    }

    private void PublishMove(Worker worker, KeyEvent told, KeyNote from, KeyNote to)
    {
        Publish(worker, NotifyClasses.New, "new", to);
        Publish(worker, told.Class, told.From, from);
        Publish(worker, told.Class, told.Name, to);
    }

    private void Publish(Worker worker, int eventClass, string name, KeyNote note)
    {
        NotifyClasses classes = Classes;
        if (!classes.Publishes(eventClass) || note.Database < 0)
            return;
        byte[] place = Encoding.ASCII.GetBytes($"@{note.Database}__:"), told = Encoding.ASCII.GetBytes(name);
        if ((classes.Bits & NotifyClasses.Keyspace) != 0)
            server.Channels.Publish(worker, ChannelKind.Channel, [.. "__keyspace"u8, .. place, .. note.Key], told);
        if ((classes.Bits & NotifyClasses.Keyevent) != 0)
            server.Channels.Publish(worker, ChannelKind.Channel, [.. "__keyevent"u8, .. place, .. told], note.Key);
    }

    private static void Probe(ref Call call, int position)
    {
        // Two conditions that no key meets: the operation looks, and the store removes a record whose time has come.
        var look = new ChangeExpiry { Condition = ExpireCondition.IfNone | ExpireCondition.IfAny, NowMs = call.NowMs };
        KeyRef key = call.KeyAt(position);
        call.Store.Modify(in key, ref look);
        if (!look.Existed)
            call.Worker.Notes.Add(new KeyNote(call[position].ToArray(), call.Client.Database, KeyChange.Written, call.Client, Missed: true));
    }

    // The command has run without an error: its options are known to be right.
    private static bool SetsExpiry(ref Call call, CommandSpec spec, KeyEvent told)
    {
        if (told.ExpiryAt <= 0)
            return told.ExpiryAt == KeyEvent.Always;
        int first = told.ExpiryAt;
        if (spec.Keys.CountArg > 0 && call.TryInt64(spec.Keys.CountArg, out long keys))
            first = spec.Keys.First + ((int)keys * spec.Keys.Step);
        return HasWord(ref call, first, static (ref Call call, int index) => call.Is(index, "EX"u8) || call.Is(index, "PX"u8) || call.Is(index, "EXAT"u8) || call.Is(index, "PXAT"u8));
    }

    private delegate bool WordTest(ref Call call, int index);

    private static bool HasWord(ref Call call, int first, WordTest test)
    {
        for (int i = first; i < call.Count; i++)
        {
            if (test(ref call, i))
                return true;
            if (call.Is(i, "IFEQ"u8) || call.Is(i, "IFNE"u8) || call.Is(i, "IFDEQ"u8) || call.Is(i, "IFDNE"u8))
                i++; // what it compares with may be any word
        }

        return false;
    }
}
