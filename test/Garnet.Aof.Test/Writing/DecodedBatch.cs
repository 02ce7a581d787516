using Garnet.Aof.Format;

namespace Garnet.Aof.Test.Writing;

/// <summary>An entry as found in a file.</summary>
internal sealed record DecodedEntry(int Lane, byte Operation, int Database, byte[] Key, byte[] Arguments);

/// <summary>A part of a batch as found in a file; after joining, the whole batch.</summary>
internal sealed record DecodedBatch(BatchHeader Header, uint Crc, List<DecodedEntry> Entries)
{
    public ulong Number => Header.Batch;
}
