namespace Garnet.Common.Faults;

/// <summary>
/// What was asked for is larger than can be held, written or sent. Thrown before anything of it was done, by whoever knows the limit; caught
/// where commands are run, which answers the client and goes on. The message says what, how much and the limit; it goes to the client.
/// </summary>
public sealed class TooLargeException(string message) : Exception(message)
{
    /// <summary>For something of a certain size that is beyond its limit.</summary>
    public TooLargeException(string what, long bytes, long bytesMax)
        : this($"{what} of {bytes} bytes is beyond the limit of {bytesMax}")
    {
    }

    /// <summary>Throws if there are more bytes than the limit allows.</summary>
    public static void Above(long bytesMax, long bytes, string what)
    {
        if (bytes > bytesMax)
            throw new TooLargeException(what, bytes, bytesMax);
    }
}
