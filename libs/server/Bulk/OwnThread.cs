namespace Garnet.Server.Bulk;

/// <summary>What may wait for a client for long, on a thread of its own; where no thread is to be had, on one of the pool's.</summary>
internal static class OwnThread
{
    internal static Task<bool> Run(Func<bool> work)
    {
        try
        {
            return Task.Factory.StartNew(work, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }
        catch (TaskSchedulerException)
        {
            return Task.Run(work);
        }
    }
}
