using System.Diagnostics;
using System.Globalization;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Races;

/// <summary>
/// Clients side by side on a server with more reactors than the machine has cores, for a time: each does its part over and over and says
/// what it has seen that no order of whole commands can show. The time is a quarter of a second, three with CI=true; GARNET_RACE_SECONDS says otherwise.
/// </summary>
internal sealed class RaceRun : IDisposable
{
    private const int Reactors = 8;

    private readonly EmbeddedServer _server;
    private readonly List<TestThread> _threads = [];
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private volatile string? _wrong;
    private long _rounds;

    internal RaceRun(Action<ServerSettings>? adjust = null)
    {
        _server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.ReactorThreads = Reactors;
            adjust?.Invoke(settings);
        });
    }

    /// <summary>Seconds that one program runs.</summary>
    internal static double Seconds { get; } = Environment.GetEnvironmentVariable("GARNET_RACE_SECONDS") is { } text ? double.Parse(text, CultureInfo.InvariantCulture) : LongRun.IsWanted ? 3 : 0.25;

    internal RespServer Server => _server.Server;

    internal bool Goes => _wrong is null && _clock.Elapsed.TotalSeconds < Seconds;

    internal TestClient Connect() => new(_server.Server.Port);

    /// <summary>Runs the part over and over on a thread and a connection of its own.</summary>
    internal void Begin(Action<TestClient> part, int times = 1)
    {
        for (int i = 0; i < times; i++)
            _threads.Add(TestThread.Begin(() => Repeat(part)));
    }

    /// <summary>The same; the part says what it has seen that cannot be, null for nothing. Its rounds are counted.</summary>
    internal void Watch(Func<TestClient, string?> part, int times = 1) => Begin(client =>
    {
        if (part(client) is { } wrong)
            _wrong ??= wrong;
        Interlocked.Increment(ref _rounds);
    }, times);

    /// <summary>Waits for the end of the time, or the first fault; what was wrong, null for nothing.</summary>
    internal string? End()
    {
        TestThread.Join([.. _threads]);
        NUnit.Framework.TestContext.Out.WriteLine($"{_rounds} rounds");
        return _wrong is { } wrong ? $"{wrong} (after {_rounds} rounds)" : null;
    }

    public void Dispose() => _server.Dispose();

    private void Repeat(Action<TestClient> part)
    {
        using TestClient client = Connect();
        while (Goes)
            part(client);
    }
}
