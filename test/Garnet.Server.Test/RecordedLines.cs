using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Garnet.Server.Test;

/// <summary>What a server writes into its log, a line each: level and text.</summary>
internal sealed class RecordedLines : ILogger
{
    private readonly ConcurrentQueue<string> _lines = new();

    public string[] All => [.. _lines];

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _lines.Enqueue($"{logLevel} {formatter(state, exception)}");
}
