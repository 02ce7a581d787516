using System.Globalization;
using System.Text;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// The connection on which a source believes it has a replica: the handshake, and what is acknowledged each second by a timer, or the source
/// would give the link up while the target is slow. Nothing else is ever said to the source here.
/// </summary>
internal sealed class SourceLink : IDisposable
{
    private const int MarkBytes = 40, HistoryBytesMax = 64, AcknowledgeEveryMs = 1000, LookEveryMs = 100;
    private const long OffsetMax = 1L << 62; // no stream is so long: a counter that has gone wrong
    private const string NextByUser = "Let its user +psync and +replconf, or where that cannot be take --scan, which follows no changes";

    private readonly ByteLink _link;
    private readonly Timer _timer;
    private long _acknowledged = -1;

    private SourceLink(ByteLink link)
    {
        _link = link;
        _timer = new Timer(_ => Acknowledge(), null, AcknowledgeEveryMs, AcknowledgeEveryMs);
    }

    /// <summary>Which history the source has.</summary>
    internal string History { get; private set; } = "";

    /// <summary>Where the copy ends and changes begin, or where they go on.</summary>
    internal long Offset { get; private set; }

    /// <summary>True if all data come first.</summary>
    internal bool IsFull { get; private set; }

    /// <summary>Bytes of the data; -1: the source does not know yet.</summary>
    internal long RdbBytes { get; private set; } = -1;

    /// <summary>What it comes over.</summary>
    internal ByteLink Bytes => _link;

    /// <summary>Becomes a replica from a place of a history on, or, with an empty one, from the beginning.</summary>
    internal static SourceLink Open(ServerAddress address, string history, long offset)
    {
        ByteLink link = ByteLink.Open(address);
        try
        {
            link.Call("REPLCONF", "listening-port", link.OwnPort.ToString(CultureInfo.InvariantCulture));
            link.Call("REPLCONF", "capa", "eof", "capa", "psync2");
            string from = history.Length == 0 ? "-1" : (offset + 1).ToString(CultureInfo.InvariantCulture);
            link.Send(ByteLink.Encode(
                "PSYNC"u8.ToArray(), Encoding.ASCII.GetBytes(history.Length == 0 ? "?" : history), Encoding.ASCII.GetBytes(from)));
            return Told(link, history, offset);
        }
        catch
        {
            link.Dispose();
            throw;
        }
    }

    /// <summary>Begins to read the data: how many bytes there are, or the mark behind them. Null if it was told to end.</summary>
    internal string? BeginRdb(CancellationToken ends)
    {
        string? head = Line(ends);
        if (head is null)
            return null;
        if (head.StartsWith("$EOF:", StringComparison.Ordinal) && head.Length == "$EOF:".Length + MarkBytes)
            return head["$EOF:".Length..];
        if (head is not ['$', .. string digits] || !long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long bytes))
            throw new IOException($"{_link.Address} sends no data: {Answer.Shown(Encoding.UTF8.GetBytes(head))}");
        RdbBytes = bytes;
        return "";
    }

    /// <summary>Reads the mark behind data whose length was not known.</summary>
    internal bool TryEndRdb(string mark)
    {
        while (_link.Held < mark.Length)
            _link.Receive();
        bool isRight = Head(mark.Length) == mark;
        _link.Skip(mark.Length);
        return isRight;
    }

    /// <summary>Up to where the target has everything: said to the source each second, and at once if it is <paramref name="now"/>.</summary>
    internal void Has(long offset, bool now)
    {
        Volatile.Write(ref _acknowledged, offset);
        if (now)
            Acknowledge();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _timer.Dispose();
        _link.Dispose();
    }

    private static SourceLink Told(ByteLink link, string history, long offset)
    {
        string said;
        do
            said = link.ReadLine();
        while (said.Length == 0); // a source that is not ready sends empty lines
        string[] words = said.Split(' ');
        bool isFull = words[0] == "+FULLRESYNC", isSound = words.Length < 2 || IsHistory(words[1]);
        if (isFull && isSound && words.Length == 3
            && long.TryParse(words[2], NumberStyles.None, CultureInfo.InvariantCulture, out long start) && start < OffsetMax)
            return new SourceLink(link) { History = words[1], Offset = start, IsFull = true };
        if (words[0] == "+CONTINUE" && isSound && history.Length > 0)
            return new SourceLink(link) { History = words.Length > 1 ? words[1] : history, Offset = offset };
        string shown = Answer.Shown(Encoding.UTF8.GetBytes(said));
        throw said[0] == '-' && words[0] != "-NOMASTERLINK" && !Answer.Passes(said[1..])
            ? new GarnetException(ExitKind.Configuration, $"{link.Address} takes no replica", shown[1..], NextByUser)
            : new IOException($"{link.Address} answers PSYNC with {shown}");
    }

    // It becomes a word of a key of the target.
    private static bool IsHistory(string text) => text.Length is > 0 and <= HistoryBytesMax && text.All(char.IsAsciiLetterOrDigit);

    // While it is still writing its file it sends empty ones.
    private string? Line(CancellationToken ends)
    {
        while (true)
        {
            for (long sinceMs = Environment.TickCount64; _link.Held == 0 && !_link.Waits(LookEveryMs);)
            {
                if (ends.IsCancellationRequested)
                    return null;
                if (Environment.TickCount64 - sinceMs > _link.Address.WaitSeconds * 1000L)
                    throw _link.Silent();
            }
            string line = _link.ReadLine();
            if (line.Length > 0)
                return line;
            if (ends.IsCancellationRequested)
                return null;
        }
    }

    private unsafe string Head(int bytes) => Encoding.ASCII.GetString(_link.At, bytes);

    // While it copies, an empty line says that somebody is there.
    private void Acknowledge()
    {
        long offset = Volatile.Read(ref _acknowledged);
        string text = offset.ToString(CultureInfo.InvariantCulture);
        try
        {
            _link.Send(offset < 0 ? "\n"u8 : ByteLink.Encode("REPLCONF"u8.ToArray(), "ACK"u8.ToArray(), Encoding.ASCII.GetBytes(text)));
        }
        catch (Exception e) when (ByteLink.IsLost(e) || e is ObjectDisposedException)
        {
            // whoever reads notices
        }
    }
}
