namespace Garnet.Server.Bulk;

/// <summary>
/// A value that comes in parts (BULK.OPEN), of which nobody sees anything before it is whole. Its session's reactor has it alone.
/// </summary>
internal sealed class BulkUpload(ulong token, byte[] key, int database, StagedBytes staged)
{
    internal ulong Token => token;

    internal byte[] Key => key;

    internal int Database => database;

    internal StagedBytes Staged => staged;

    internal WrittenRanges Written { get; } = new(staged.Length);

    /// <summary>When it is given up, Unix milliseconds, if nothing more of it comes until then.</summary>
    internal long UntilMs { get; set; }
}
