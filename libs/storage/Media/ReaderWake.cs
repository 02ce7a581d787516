namespace Garnet.Media;

/// <summary>
/// How a thread that sleeps learns that one of its reads has finished. Neither for a thread that only ever waits in
/// <see cref="IMediumReader.Wait"/>.
/// </summary>
/// <param name="Descriptor">An eventfd(2) that is written to, -1 for none.</param>
/// <param name="Call">What is called, from any thread, where there is no descriptor.</param>
public readonly record struct ReaderWake(int Descriptor, Action? Call)
{
    /// <summary>Nobody sleeps.</summary>
    public static ReaderWake None => new(-1, null);
}
