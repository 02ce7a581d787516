using System.Globalization;
using Garnet.Common;
using Garnet.Server;
using Microsoft.Extensions.Logging;

namespace Garnet.Host;

/// <summary>
/// The log of a server of its own: lines as redis-server writes them (process, role, time, mark, text), to standard output
/// or to a file.
/// </summary>
internal sealed class LineLog : ILogger, ILostLines, IDisposable
{
    private readonly InspectSettings _settings;
    private readonly TerminalLines _lines;

    public LineLog(InspectSettings settings)
    {
        _settings = settings;
        _lines = settings.LogFile.Length == 0
            ? TerminalLines.OfStandardOutput()
            : new TerminalLines(OpenFile(settings.LogFile), isTerminal: false);
    }

    public long LostLines => _lines.Lost;

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None && (int)logLevel >= (int)_settings.LogLevel;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (!IsEnabled(logLevel))
            return;
        string time = DateTime.Now.ToString("dd MMM yyyy HH:mm:ss.fff", CultureInfo.InvariantCulture);
        string text = exception is null ? formatter(state, exception) : $"{formatter(state, exception)}: {exception}";
        string line = $"{Environment.ProcessId}:M {time} {Mark(logLevel)} {text}";
        if (eventId.Id == LogEvents.Progress)
            _lines.WriteProgress(line);
        else _lines.Write(line);
    }

    public void Dispose() => _lines.Dispose();

    private static char Mark(LogLevel level) => level switch
    {
        LogLevel.Trace => '.',
        LogLevel.Debug => '-',
        LogLevel.Information => '*',
        _ => '#',
    };

    private static FileStream OpenFile(string path)
    {
        try
        {
            return new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite | FileShare.Delete, bufferSize: 0);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new GarnetException(ExitKind.Permission, $"cannot open the log file '{path}'", e.Message,
                "Set logfile to a file that can be written");
        }
    }
}
