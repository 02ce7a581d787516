namespace Garnet.Server.Blocking;

/// <summary>A waiting command's place in the queue of one of its keys.</summary>
internal sealed class WaitPlace(KeyWait owner, KeyQueue queue)
{
    internal KeyWait Owner { get; } = owner;
    internal KeyQueue Queue { get; } = queue;
    internal WaitPlace? Before { get; set; }
    internal WaitPlace? Behind { get; set; }

    /// <summary>The same command's place in the queue of another key.</summary>
    internal WaitPlace? Other { get; set; }
}
