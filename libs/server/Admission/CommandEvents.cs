using System.Text;
using Garnet.Common.Bytes;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Admission;

/// <summary>
/// What a command tells of the keys that it has changed or looked for in vain, in the words of its spec and in Redis's order; by whom they
/// are heard is the matter of <see cref="Tracking.KeyEvents"/>. While nobody wants events no command comes here.
/// </summary>
internal static class CommandEvents
{
    /// <summary>
    /// Before a command runs: notes the keys it will look for in vain. Who asks for a key whose time has come removes it, so
    /// that the event comes now, as in Redis.
    /// </summary>
    internal static void BeforeRun(ref Call call, CommandSpec spec)
    {
        if (!call.Server.Observers.Changes.Tells)
            return;
        NotifyClasses classes = call.Server.Observers.Events.Classes;
        bool tells = classes.Publishes(NotifyClasses.Miss) || classes.Publishes(NotifyClasses.Expired);
        if (!tells || spec.Misses == KeyMisses.None || !spec.Keys.Any || (spec.Flags & CommandFlags.RunsScript) != 0)
            return;
        if (spec.Misses == KeyMisses.WithGet && !HasWord(ref call, 3, static (ref Call call, int index) => call.Is(index, "GET"u8)))
            return;
        if (!KeyPositions.TryOf(ref call, spec.Keys, out KeyPositions positions))
            return;
        bool reads = spec.Misses is KeyMisses.OfReads or KeyMisses.AllAtOnce;
        int looked = spec.Misses == KeyMisses.First ? 1 : positions.Count;
        for (int i = 0; i < looked; i++)
        {
            if (!reads || positions.UsageAt(ref call, 0, spec.Keys, i).StartsWith("RO", StringComparison.Ordinal))
                Probe(ref call, positions[i]);
        }
    }

    /// <summary>After it has run: hands on what was noted.</summary>
    internal static void AfterRun(ref Call call, CommandSpec spec, bool failed)
    {
        List<KeyNote> notes = call.Worker.Notes;
        if (notes.Count > 0)
        {
            TellTrackers(ref call, spec);
            Publish(ref call, spec, failed);
            notes.Clear();
        }

        call.Worker.Told.Clear();
    }

    private static void TellTrackers(ref Call call, CommandSpec spec)
    {
        List<KeyNote> notes = call.Worker.Notes;
        for (int i = 0; i < notes.Count; i++)
        {
            bool moves = Moves(spec, notes, i);
            if (moves)
                TellTrackers(ref call, notes[i + 1]); // first the key that is no more, as in Redis
            TellTrackers(ref call, notes[i]);
            if (moves)
                i++;
        }
    }

    private static void TellTrackers(ref Call call, KeyNote note)
    {
        if (!note.Missed)
            call.Server.Observers.Tracker.Changed(call.Worker, note);
    }

    // The store tells of a move's target, then of what was there before.
    private static bool Moves(CommandSpec spec, List<KeyNote> notes, int at) =>
        spec.Event is { From.Length: > 0 } && at + 1 < notes.Count && notes[at + 1].Change == KeyChange.Removed;

    private static void Publish(ref Call call, CommandSpec spec, bool failed)
    {
        List<KeyNote> notes = call.Worker.Notes;
        List<KeyEvent?> told = call.Worker.Told;
        Tracking.KeyEvents events = call.Server.Observers.Events;
        int own = 0;
        for (int i = 0; i < notes.Count; i++)
        {
            KeyNote note = notes[i];
            bool moves = Moves(spec, notes, i);
            if (note.Missed)
                events.Publish(call.Worker, failed && spec.Misses != KeyMisses.AllAtOnce ? 0 : NotifyClasses.Miss, "keymiss", note);
            else if (note.Change is KeyChange.Expired or KeyChange.Evicted)
                events.PublishUnasked(call.Worker, note);
            else if (note.Told is not null)
                events.PublishServed(call.Worker, note, note.Told);
            else if (moves)
                events.PublishMove(call.Worker, spec.Event!, notes[++i], note);
            else if (spec.Event is { Replaces: true } && i + 1 < notes.Count && note.Change == KeyChange.Removed
                && notes[i + 1].Change == KeyChange.Created && note.Key.AsSpan().SequenceEqual(notes[i + 1].Key))
                PublishChange(ref call, spec, notes[++i] with { Change = KeyChange.Written });
            else if (own < told.Count)
                PublishChange(ref call, spec with { Event = told[own++] }, note);
            else
                PublishChange(ref call, spec, note);
        }
    }

    private static void PublishChange(ref Call call, CommandSpec spec, KeyNote note)
    {
        Worker worker = call.Worker;
        if (note.Change == KeyChange.Removed && spec.Event is { Empties: true } emptied)
            call.Server.Observers.Events.Publish(worker, emptied.Class, NameOf(ref call, emptied), note);
        if (note.Change == KeyChange.Removed)
            call.Server.Observers.Events.Publish(worker, NotifyClasses.Generic, "del", note);
        else if (note.Change == KeyChange.Persisted)
            call.Server.Observers.Events.Publish(worker, NotifyClasses.Generic, "persist", note);
        else if (note.Change == KeyChange.Retimed)
            call.Server.Observers.Events.Publish(worker, NotifyClasses.Generic, "expire", note);
        if (spec.Event is not { } told || note.Change is not (KeyChange.Created or KeyChange.Written))
            return;
        if (note.Change == KeyChange.Created || told.Renews)
            call.Server.Observers.Events.Publish(worker, NotifyClasses.New, "new", note);
        call.Server.Observers.Events.Publish(worker, told.Class, NameOf(ref call, told), note);
        if (SetsExpiry(ref call, spec, told))
            call.Server.Observers.Events.Publish(worker, NotifyClasses.Generic, "expire", note);
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

    private static void Probe(ref Call call, int position)
    {
        // Most are there: what lies on the tier stays there for that.
        KeyRef key = call.KeyAt(position);
        var presence = default(PresenceLook);
        if (call.Session.Read(in key, ref presence, quiet: true) == Outcome.Done)
            return;
        // Two conditions that no key meets: the operation looks, and the store removes a record whose time has come.
        var look = new ChangeExpiry { Condition = ExpireCondition.IfNone | ExpireCondition.IfAny, NowMs = call.NowMs };
        long before = call.Session.Changes;
        call.Session.Modify(in key, ref look);
        call.Worker.ChangesBefore += call.Session.Changes - before; // none of the command's: it may still be put off
        if (!look.Existed)
            call.Worker.Notes.Add(new KeyNote(call[position].ToArray(), call.Client.Database, KeyChange.Written, call.Client,
                Missed: true));
    }

    // The command has run without an error: its options are known to be right.
    private static bool SetsExpiry(ref Call call, CommandSpec spec, KeyEvent told)
    {
        if (told.ExpiryAt <= 0)
            return told.ExpiryAt == KeyEvent.Always;
        int first = told.ExpiryAt;
        if (spec.Keys.CountArg > 0 && KeyPositions.TryOf(ref call, spec.Keys, out KeyPositions keys))
            first = keys.Behind;
        return HasWord(ref call, first, static (ref Call call, int index) => call.Is(index, "EX"u8) || call.Is(index, "PX"u8)
            || call.Is(index, "EXAT"u8) || call.Is(index, "PXAT"u8));
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
