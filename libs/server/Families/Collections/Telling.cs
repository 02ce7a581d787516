using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>
/// How a command says what its changes are told as, where its spec is not enough: other events, another order, one event for many
/// changes or one without any. While nobody wants to know of single commands nothing here does anything.
/// </summary>
internal static class Telling
{
    /// <summary>Says what the call's changes are told as, one by one.</summary>
    internal static void Tell(ref Call call, params ReadOnlySpan<KeyEvent?> told)
    {
        if (call.Server.Observers.Changes.PerCommand)
            call.Worker.Told.AddRange(told);
    }

    /// <summary>Tells of a key as if it had been written, where Redis does so though all is as it was.</summary>
    internal static void AsWritten(ref Call call, int keyAt)
    {
        if (call.Server.Observers.Changes.PerCommand)
            call.Worker.Notes.Add(new KeyNote(call[keyAt].ToArray(), call.Client.Database, KeyChange.Written, call.Client));
    }

    /// <summary>The last change is told first.</summary>
    internal static void LastFirst(ref Call call, int from)
    {
        List<KeyNote> notes = call.Worker.Notes;
        if (notes.Count < from + 2)
            return;
        KeyNote last = notes[^1];
        notes.RemoveAt(notes.Count - 1);
        notes.Insert(from, last);
    }

    /// <summary>What the command has changed of one key, step by step, since there were so many notes is told as one change.</summary>
    internal static void AsOne(ref Call call, int from)
    {
        List<KeyNote> notes = call.Worker.Notes;
        int first = notes.FindIndex(from, static note => IsOwn(note));
        if (first < 0)
            return;
        KeyNote one = notes[first];
        if (one.Change == KeyChange.Removed)
            notes[first] = one with { Change = KeyChange.Written }; // what stood there was replaced
        for (int i = notes.Count - 1; i > first; i--)
        {
            if (IsOwn(notes[i]))
                notes.RemoveAt(i);
        }
    }

    private static bool IsOwn(KeyNote note) => note.Change is not (KeyChange.Expired or KeyChange.Evicted) && !note.Missed;
}
