using Garnet.Common;

namespace Garnet.Server;

/// <summary>Values that go between a client's memory and the server's without the connection (BULK.HELLO and its family).</summary>
public sealed partial class BulkSettings
{
    [Setting("bulk-providers",
        "What may carry values beside connections: local, for processes of this server's user on this machine; net and verbs "
            + "of libfabric, for clients elsewhere, each with ports of its own; nothing for inline alone, which all have.",
        Live = true, Protected = true)]
    public BulkProviders Providers { get; set; } = new("local");

    [Setting("bulk-sessions", "Clients whose memory the server reaches, at once; each costs two threads. More get inline.",
        Unit = SettingUnit.Count, Min = 0, Max = 4096, Live = true)]
    public int SessionsMax { get; set; } = 64;

    [Setting("bulk-session-regions", "Regions of memory that a client may have registered.",
        Unit = SettingUnit.Count, Min = 1, Max = 65536, Live = true)]
    public int RegionsMax { get; set; } = 64;

    [Setting("bulk-session-operations", "Transfers of one client at once; more wait for bulk-wait.",
        Unit = SettingUnit.Count, Min = 1, Max = 256, Live = true)]
    public int SessionOperationsMax { get; set; } = 16;

    [Setting("bulk-session-bytes", "Bytes of values of one client that are on their way at once; one alone may have more.",
        Unit = SettingUnit.Bytes, Min = 1 << 10, Max = 1L << 40, Live = true)]
    public long SessionBytesMax { get; set; } = 64 << 20;

    [Setting("bulk-bytes", "Bytes of values of all clients that are on their way at once; one alone may have more.",
        Unit = SettingUnit.Bytes, Min = 1 << 10, Max = 1L << 40, Live = true)]
    public long BytesMax { get; set; } = 1L << 30;

    [Setting("bulk-wait", "How long a transfer waits for those before it, until -BULKBUSY.",
        Unit = SettingUnit.Milliseconds, Min = 0, Max = 60_000, Live = true)]
    public int WaitMs { get; set; } = 100;

    [Setting("bulk-timeout", "How long a transfer may take, until -BULKTIMEOUT; its session ends with it.",
        Unit = SettingUnit.Milliseconds, Min = 1, Max = 3_600_000, Live = true)]
    public int TimeoutMs { get; set; } = 30_000;

    [Setting("bulk-upload-timeout", "How long a value that comes in parts (BULK.OPEN) waits for the next one, until it is given up.",
        Unit = SettingUnit.Milliseconds, Min = 1, Max = 3_600_000, Live = true)]
    public int UploadTimeoutMs { get; set; } = 60_000;
}
