namespace Garnet.Load.Traffic;

/// <summary>One socket of the generator and the batch it waits for.</summary>
internal sealed class Connection(int descriptor, ReplyScan scan)
{
    public readonly int Descriptor = descriptor;
    public readonly ReplyScan Scan = scan;
    /// <summary>Replies still owed; zero when idle.</summary>
    public int Owed;
    /// <summary>When the batch in flight was sent (closed loop) or should have been (open loop).</summary>
    public long StartedAt;
    /// <summary>Open loop: start times that passed while the connection was busy.</summary>
    public readonly Queue<long> Late = new();
    public long Ops;
    /// <summary>The part of the batch that the socket did not take yet.</summary>
    public byte[] Unsent = [];
    public int UnsentAt, UnsentEnd;
    /// <summary>Checking mode: wanted and received bytes of the batch in flight.</summary>
    public byte[] Wanted = [];
    public int WantedBytes, WantedAt;
    public bool Differs;
}
