namespace Garnet.Types.Streams;

/// <summary>Sizes of a page: as <c>stream-node-max-bytes</c> and <c>stream-node-max-entries</c> say, within what a page can hold.</summary>
public readonly record struct StreamLimits(long PageBytes, long PageEntries)
{
    private const long PageBytesMax = 65_536;

    public static readonly StreamLimits Replay = Of(new EncodingSettings());

    public static StreamLimits Of(EncodingSettings settings) => new(
        settings.StreamNodeBytesMax is > 0 and < PageBytesMax ? settings.StreamNodeBytesMax : PageBytesMax,
        settings.StreamNodeEntriesMax is > 0 and < StreamPage.EntriesMax ? settings.StreamNodeEntriesMax : StreamPage.EntriesMax);
}
