using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// How a thread that sleeps learns that one of its reads has finished. Neither for a thread that only ever waits in
/// <see cref="IMediumReader.Wait"/>.
/// </summary>
/// <param name="Event">What is set, null for none.</param>
/// <param name="Call">What is called, from any thread, where there is none.</param>
public readonly record struct ReaderWake(WakeEvent? Event, Action? Call)
{
    /// <summary>Nobody sleeps.</summary>
    public static ReaderWake None => new(null, null);
}
