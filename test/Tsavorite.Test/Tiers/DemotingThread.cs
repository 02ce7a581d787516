using Garnet.Common.Test;

namespace Tsavorite.Test.Tiers;

/// <summary>Sends everything to the tier, again and again, while others use the store.</summary>
internal sealed class DemotingThread : IDisposable
{
    private readonly Thread _thread;
    private readonly ManualResetEventSlim _goes = new(false);
    private volatile bool _stops;

    public DemotingThread(Store store)
    {
        _thread = new Thread(() =>
        {
            while (!_stops)
            {
                _goes.Await();
                store.Tiers!.DemoteAll();
            }
        });
        _thread.Start();
    }

    public void Pause(bool pauses)
    {
        if (pauses) _goes.Reset();
        else _goes.Set();
    }

    public void Dispose()
    {
        _stops = true;
        _goes.Set();
        _thread.Await();
        _goes.Dispose();
    }
}
