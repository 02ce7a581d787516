namespace Garnet.Server.Clients;

/// <summary>What a transport reports of one connection.</summary>
internal readonly struct ReadyEvent(int slot, int stamp, bool readable, bool writable, bool broken)
{
    /// <summary>The connection's slot in its reactor.</summary>
    public readonly int Slot = slot;
    /// <summary>Low half of the connection's id: the slot may have a new owner since.</summary>
    public readonly int Stamp = stamp;
    /// <summary>Bytes or the end of the stream can be received.</summary>
    public readonly bool Readable = readable;
    /// <summary>The socket takes bytes again.</summary>
    public readonly bool Writable = writable;
    /// <summary>The peer is gone or the socket is in error.</summary>
    public readonly bool Broken = broken;
}
