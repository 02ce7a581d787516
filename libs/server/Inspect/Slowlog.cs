using Garnet.Server.Commands;

namespace Garnet.Server.Inspect;

/// <summary>One slow command.</summary>
internal sealed record SlowEntry(long Id, long UnixSeconds, long Microseconds, byte[][] Arguments, string Peer, string ClientName);

/// <summary>The last slow commands, newest first. Shared by all reactors; a slow command takes the lock, a fast one does not.</summary>
internal sealed class Slowlog(InspectSettings settings)
{
    private const int ArgumentsMax = 32;
    private const int ArgumentBytesMax = 128;

    private readonly Lock _gate = new();
    private readonly LinkedList<SlowEntry> _entries = new();
    private long _lastId = -1;

    internal int Count
    {
        get
        {
            lock (_gate)
                return _entries.Count;
        }
    }

    /// <summary>Keeps the command if it took long enough.</summary>
    internal void Consider(ref Call call, long microseconds)
    {
        long threshold = settings.SlowerThanMicroseconds;
        if (threshold < 0 || microseconds < threshold || settings.SlowEntriesMax == 0)
            return;
        byte[][] arguments = Arguments(ref call);
        lock (_gate)
        {
            _entries.AddFirst(new SlowEntry(++_lastId, call.NowMs / 1000, microseconds, arguments, call.Client.Peer.Remote, call.Client.Name));
            TrimLocked();
        }
    }

    /// <summary>The newest entries; a negative count means all.</summary>
    internal List<SlowEntry> Newest(long count)
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
        while (_entries.Count > settings.SlowEntriesMax)
            _entries.RemoveLast();
    }

    private static byte[][] Arguments(ref Call call)
    {
        int shown = Math.Min(call.Count, ArgumentsMax);
        var arguments = new byte[shown][];
        for (int i = 0; i < shown; i++)
        {
            if (i == ArgumentsMax - 1 && call.Count > ArgumentsMax)
                arguments[i] = System.Text.Encoding.ASCII.GetBytes($"... ({call.Count - ArgumentsMax + 1} more arguments)");
            else if (Secrets.Hides(ref call, i))
                arguments[i] = "(redacted)"u8.ToArray();
            else
                arguments[i] = Shortened(call[i]);
        }

        return arguments;
    }

    private static byte[] Shortened(ReadOnlySpan<byte> argument) => argument.Length <= ArgumentBytesMax
        ? argument.ToArray()
        : [.. argument[..ArgumentBytesMax], .. System.Text.Encoding.ASCII.GetBytes($"... ({argument.Length - ArgumentBytesMax} more bytes)")];
}
