using System.Text;

namespace Garnet.Host;

/// <summary>
/// Lines to a terminal, a file or a pipe, each in one write, so that those of several threads never mix. On a terminal progress is
/// one line whose place whatever comes next takes; elsewhere it is lines like the others.
/// host.T1: a line that cannot be written (a full disk, a closed pipe) is counted and lost, whoever writes goes on; the next that can be written
/// stands behind one that says how many were not.
/// </summary>
internal sealed class TerminalLines(Stream output, bool isTerminal) : IDisposable
{
    private const string FromTheLeft = "\r", ClearTheRest = "\e[K";
    private readonly Lock _gate = new();
    private bool _pending;
    private long _lost, _untold;

    /// <summary>Lines that could not be written.</summary>
    public long Lost => Volatile.Read(ref _lost);

    /// <summary>Lines to standard output.</summary>
    public static TerminalLines OfStandardOutput() => new(Console.OpenStandardOutput(), !Console.IsOutputRedirected);

    /// <summary>Writes a line that stays.</summary>
    public void Write(string line)
    {
        lock (_gate)
        {
            Put(_pending ? FromTheLeft + line + ClearTheRest + "\n" : line + "\n");
            _pending = false;
        }
    }

    /// <summary>Writes a line of progress.</summary>
    public void WriteProgress(string line)
    {
        if (!isTerminal)
        {
            Write(line);
            return;
        }
        lock (_gate)
        {
            Put(FromTheLeft + line + ClearTheRest);
            _pending = true;
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            if (_pending)
                Put("\n");
            _pending = false;
            output.Dispose();
        }
    }

    // host.T1
    private void Put(string text)
    {
        try
        {
            string told = _untold > 0 ? $"({_untold} lines could not be written here)\n" : "";
            output.Write(Encoding.UTF8.GetBytes(told + text));
            output.Flush();
            _untold = 0;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ObjectDisposedException)
        {
            _untold++;
            Volatile.Write(ref _lost, _lost + 1);
        }
    }
}
