using Garnet.Replication;
using Garnet.Server.Clients;

namespace Garnet.Server.Inspect;

/// <summary>One remarkable command; the measure is microseconds or bytes.</summary>
internal sealed record CommandLogEntry(long Id, long UnixSeconds, long Measure, byte[][] Arguments, string Peer, string ClientName);

/// <summary>
/// The last commands whose measure (time, request or reply bytes) reached a threshold, newest first. Shared by all
/// reactors; a remarkable command takes the lock, any other does not.
/// </summary>
internal sealed class CommandLog(Secrets secrets, Func<long> threshold, Func<long> entriesMax)
{
    private const int ArgumentsMax = 32;
    private const int ArgumentBytesMax = 128;

    private readonly Lock _gate = new();
    private readonly LinkedList<CommandLogEntry> _entries = new();
    private long _lastId = -1;

    internal int Count
    {
        get
        {
            lock (_gate)
                return _entries.Count;
        }
    }

    /// <summary>True if a command of this measure would be kept.</summary>
    internal bool Wants(long measure) => threshold() is var least && least >= 0 && measure >= least && entriesMax() > 0;

    /// <summary>Keeps the command if its measure reaches the threshold.</summary>
    internal void Consider(Connection client, Arguments arguments, long measure)
    {
        if (!Wants(measure))
            return;
        byte[][] shown = Shown(arguments);
        lock (_gate)
        {
            _entries.AddFirst(new CommandLogEntry(++_lastId, client.Worker.NowMs / 1000, measure, shown, client.Peer.Remote, client.Name));
            TrimLocked();
        }
    }

    /// <summary>The newest entries; a negative count means all.</summary>
    internal List<CommandLogEntry> Newest(long count)
    {
        lock (_gate)
            return [.. _entries.Take(count < 0 ? int.MaxValue : (int)Math.Min(count, int.MaxValue))];
    }

    internal void Clear()
    {
        lock (_gate)
            _entries.Clear();
    }

    /// <summary>Takes a lowered length over.</summary>
    internal void Trim()
    {
        lock (_gate)
            TrimLocked();
    }

    private void TrimLocked()
    {
        while (_entries.Count > entriesMax())
            _entries.RemoveLast();
    }

    private byte[][] Shown(Arguments all)
    {
        int shown = Math.Min(all.Count, ArgumentsMax);
        var arguments = new byte[shown][];
        for (int i = 0; i < shown; i++)
        {
            if (i == ArgumentsMax - 1 && all.Count > ArgumentsMax)
                arguments[i] = System.Text.Encoding.ASCII.GetBytes($"... ({all.Count - ArgumentsMax + 1} more arguments)");
            else if (secrets.Hides(all, i))
                arguments[i] = "(redacted)"u8.ToArray();
            else
                arguments[i] = Shortened(all[i]);
        }

        return arguments;
    }

    private static byte[] Shortened(ReadOnlySpan<byte> argument) => argument.Length <= ArgumentBytesMax
        ? argument.ToArray()
        : [.. argument[..ArgumentBytesMax],
            .. System.Text.Encoding.ASCII.GetBytes($"... ({argument.Length - ArgumentBytesMax} more bytes)")];
}
