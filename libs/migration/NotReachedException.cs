namespace Garnet.Migration;

/// <summary>No connection to a server could be made. As a lost link for whoever goes on later.</summary>
internal sealed class NotReachedException(ServerAddress address, string why, Exception inner)
    : IOException($"{address} is not to be reached: {why}", inner)
{
    /// <summary>Where it was looked for.</summary>
    internal ServerAddress Address => address;
}
