namespace Garnet.Load.Traffic;

/// <summary>A load on a thread of its own, at a rate or as fast as it goes, while something else is measured.</summary>
internal sealed class BackgroundLoad : IDisposable
{
    private const double TurnSeconds = 0.1;

    private readonly Generator _generator;
    private readonly Thread _thread;
    private volatile bool _stops, _forgives;
    private readonly List<Measured> _turns = [];
    private long _replies;
    private Exception? _failure;

    public BackgroundLoad(Workload workload, GeneratorSettings settings)
    {
        _generator = new Generator(workload, settings with { Seconds = TurnSeconds, WarmupSeconds = 0 });
        _thread = new Thread(Run) { IsBackground = true, Name = "background load" };
        _thread.Start();
    }

    /// <summary>Operations answered so far, to the last tenth of a second.</summary>
    public long Replies => Interlocked.Read(ref _replies);

    /// <summary>What was measured since the last call, a tenth of a second each.</summary>
    public List<Measured> Take()
    {
        lock (_turns)
        {
            List<Measured> taken = [.. _turns];
            _turns.Clear();
            return taken;
        }
    }

    /// <summary>The server is about to go; what fails from here on is no failure.</summary>
    public void Forgive() => _forgives = true;

    public void Dispose()
    {
        _stops = true;
        _thread.Join();
        _generator.Dispose();
        if (_failure is not null && !_forgives) throw new InvalidDataException("the load in the background failed: " + _failure.Message);
    }

    private void Run()
    {
        try
        {
            while (!_stops)
            {
                Measured turn = _generator.Run();
                Interlocked.Add(ref _replies, turn.Replies);
                lock (_turns) _turns.Add(turn);
                if (turn.Errors > 0) throw new InvalidDataException(turn.FirstError);
            }
            _generator.Drain();
        }
        catch (Exception e) when (e is IOException or InvalidDataException)
        {
            _failure = e;
        }
    }
}
