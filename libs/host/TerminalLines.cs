using System.Text;

namespace Garnet.Host;

/// <summary>
/// Lines to a terminal, a file or a pipe, each in one write, so that those of several threads never mix. On a terminal progress is
/// one line whose place whatever comes next takes; elsewhere it is lines like the others.
/// </summary>
internal sealed class TerminalLines(Stream output, bool isTerminal) : IDisposable
{
    private const string FromTheLeft = "\r", ClearTheRest = "\e[K";
    private readonly Lock _gate = new();
    private bool _pending;

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
            if (_pending) Put("\n");
            _pending = false;
            output.Dispose();
        }
    }

    private void Put(string text)
    {
        output.Write(Encoding.UTF8.GetBytes(text));
        output.Flush();
    }
}
