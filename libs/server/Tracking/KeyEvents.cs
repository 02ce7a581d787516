using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.PubSub;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Server.Tracking;

/// <summary>
/// Keyspace notifications (<c>notify-keyspace-events</c>): what a command has changed, as the notes have it, in the words of its spec
/// and in Redis's order. While the setting is empty no command comes here.
///
/// tracking.N3  Events of a command are published after it and before the next one of its connection, inside EXEC too.
/// </summary>
internal sealed class KeyEvents(InspectSettings settings, Channels channels)
{
    /// <summary>What is wanted.</summary>
    internal NotifyClasses Classes => settings.NotifyClasses;

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
        if (told is not null && note.Change == KeyChange.Created)
            Publish(worker, NotifyClasses.New, "new", note);
        if (told is not null && note.Change is (KeyChange.Created or KeyChange.Written or KeyChange.Removed))
            Publish(worker, told.Class, told.Name, note);
        if (note.Change == KeyChange.Removed)
            Publish(worker, NotifyClasses.Generic, "del", note);
        else
            PublishUnasked(worker, note);
    }

    /// <summary>Publishes that a key has another name.</summary>
    internal void PublishMove(Worker worker, KeyEvent told, KeyNote from, KeyNote to)
    {
        Publish(worker, NotifyClasses.New, "new", to);
        Publish(worker, told.Class, told.From, from);
        Publish(worker, told.Class, told.Name, to);
    }

    /// <summary>Publishes an event of a key, if its class is wanted.</summary>
    internal void Publish(Worker worker, int eventClass, string name, KeyNote note)
    {
        NotifyClasses classes = Classes;
        if (!classes.Publishes(eventClass) || note.Database < 0)
            return;
        byte[] place = Encoding.ASCII.GetBytes($"@{note.Database}__:"), told = Encoding.ASCII.GetBytes(name);
        if ((classes.Bits & NotifyClasses.Keyspace) != 0)
            channels.Publish(worker, ChannelKind.Channel, [.. "__keyspace"u8, .. place, .. note.Key], told);
        if ((classes.Bits & NotifyClasses.Keyevent) != 0)
            channels.Publish(worker, ChannelKind.Channel, [.. "__keyevent"u8, .. place, .. told], note.Key);
    }
}
