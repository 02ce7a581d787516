namespace Garnet.Aof.Test.Reading;

/// <summary>
/// How a directory of a test came to be: four rounds of changes, a snapshot behind each of the first so many. With four, nothing was
/// written behind the last.
/// </summary>
internal sealed record DirectoryLife(SyncPolicy Sync, bool Stops)
{
    public int Sublogs { get; init; } = 1;
    public int Snapshots { get; init; } = 2;
    public int Changes { get; init; } = 12;
}
