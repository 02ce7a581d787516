using System.Net.Sockets;
using Garnet.Common.Bytes;
using Garnet.Server.Bulk;
using Garnet.Server.Rights;
using Garnet.Server.Tls;

namespace Garnet.Server.Clients;

/// <summary>Why a connection is not a plain one; with any bit set its commands are put to the rules of Admission.</summary>
[Flags]
internal enum ClientModes : ushort
{
    /// <summary>Nothing special: commands run at once.</summary>
    None = 0,
    /// <summary>A password is set and has not been given.</summary>
    Unauthenticated = 1,
    /// <summary>RESP2 and subscribed: only a few commands are allowed.</summary>
    Subscribed = 2,
    /// <summary>CLIENT REPLY OFF.</summary>
    ReplyOff = 4,
    /// <summary>CLIENT REPLY SKIP: the next reply is dropped.</summary>
    ReplySkip = 8,
    /// <summary>Receives MONITOR lines.</summary>
    Monitor = 16,
    /// <summary>Tracks what it reads (CLIENT TRACKING).</summary>
    Tracking = 32,
    /// <summary>Between MULTI and EXEC: commands are queued.</summary>
    Transaction = 64,
    /// <summary>A script runs for it: nothing waits.</summary>
    Script = 128,
    /// <summary>Its user may not do everything: each of its commands is asked about.</summary>
    Restricted = 256,
    /// <summary>The command that runs came behind CLIENT REPLY SKIP: its reply is dropped, unless it is CLIENT REPLY ON.</summary>
    ReplySkipped = 512,
}

/// <summary>
/// One client, owned by one reactor and touched only by its thread; other threads read the plain fields for listings and
/// post to the reactor's mailbox for everything else. An idle one holds this object and no buffers.
/// </summary>
internal sealed unsafe class Connection
{
    /// <summary>No number of a command, nor the one before the first (-1).</summary>
    internal const long NoCommand = -2;

    // Network: used by Reactor only.
    internal readonly Worker Worker;
    internal readonly long Id;
    internal int Slot = -1;
    internal int Descriptor = -1;
    internal Socket? Socket;
    internal readonly PeerAddress Peer;
    internal TlsSession? Tls;        // what encrypts it; null for a plain one
    internal string? CertifiedName;  // the user that its certificate names
    internal ByteQueue Pending;      // received, not yet framed
    internal ReplyQueue Out;         // replies the socket did not take
    internal ByteQueue Pushes;       // out-of-band messages for after the replies of the round
    internal BigRequest? Big;

    /// <summary>The one that is complete and runs.</summary>
    internal BigRequest? RunningBig;
    internal byte* SegmentStart;     // this round's replies in the reply arena
    internal byte* SegmentEnd;
    internal byte* RoundEnd;         // end of what this round received
    internal bool IsRestKept;        // of what was framed last: something has stopped the client, and what had not run by then is kept
    internal long Round;
    internal int Quota;
    internal bool Carried;           // what was received and not framed waits for the next round
    internal bool Parked;            // a command waits for something; what follows it waits too
    internal bool WriteBlocked;
    internal bool Stalled;           // too many replies unsent: nothing runs until the client reads
    internal WatchedFor Watched;      // what the transport looks for
    internal bool CloseAfterReply;
    internal bool Muted;             // closing: nothing more is sent, so that no reply has a hole
    internal bool Closed;
    internal bool Held;              // its replies wait for the log (net.R6)
    internal LogMark HeldFor;        // the batch they wait for
    internal LogMark LastWrite;      // the batch of its last change, nothing if it made none
    internal long ReadUntilMs;       // until when its next read on a replica waits, Unix milliseconds; 0 = it does not wait
    internal bool ReadsAnyState;     // CLIENT CONSISTENCY ANY
    internal bool HoldsState;        // its running command keeps a replica's state as it is (replication.Z5)
    internal long OverSoftLimitSinceMs;
    internal PutOffs? PutOffs;       // null as long as no command of its was put off

    // Session: what commands see.
    internal ClientModes Modes;
    internal User? User;             // who it is; nobody for the server's own, which may do everything
    internal bool IsAuthenticated;   // it has said who it is, or need not have when it came
    internal UserRights? ListensBy; // its channels have been looked at by these rights, when users changed last
    internal volatile bool IsDismissed; // by a change of rights: it is being closed, and is not listed any more
    internal bool Resp3;
    internal bool NoEvict;
    internal bool NoTouch;
    internal int Database;
    internal string Name = "";
    internal string LibraryName = "";
    internal string LibraryVersion = "";
    internal Subscriptions? Subscriptions;
    internal TrackingState? Tracking;
    internal Transaction? Transaction;
    internal SyncTerms? Sync;
    internal BulkSession? Bulk;      // BULK.HELLO
    internal Parking? Begun;          // what a command has begun that runs again (MIGRATE, ACL LOAD, BULK.PUT)
    internal Parking? Waiting;
    internal int WaitingAt = -1;     // its place among the worker's waiting ones
    internal readonly long CreatedMs;
    internal long ActiveMs;
    internal int LastCommand;
    internal long Commands, PutOff;  // framed, and how often one of them was put off to be framed again
    internal long BytesIn;
    internal long BytesOut;

    internal Connection(Worker worker, long id, PeerAddress peer, long nowMs)
    {
        Worker = worker;
        Id = id;
        Peer = peer;
        CreatedMs = nowMs;
        ActiveMs = nowMs;
    }

    /// <summary>The same, made if need be: a command of its is about to be put off.</summary>
    internal PutOffs NotedPutOffs => PutOffs ??= new PutOffs(this);

    /// <summary>It waits for room no more (tiering.M3).</summary>
    internal void LeaveLine()
    {
        if (PutOffs?.RoomPlace is { List: { } line } place)
            line.Remove(place);
    }

    /// <summary>True while commands must not run: something has to happen first.</summary>
    internal bool Stopped => Parked | Stalled | Held | CloseAfterReply | Closed;

    /// <summary>Bytes of memory held for this client, buffers included.</summary>
    internal long MemoryBytes => 576 + Pending.Capacity + Out.Capacity + Pushes.Capacity + (Big?.Capacity ?? 0)
        + (Transaction?.MemoryBytes ?? 0) + (Subscriptions?.MemoryBytes ?? 0) + (Tracking?.MemoryBytes ?? 0)
        + (Tls is null ? 0 : TlsSession.MemoryBytes) + (Begun?.MemoryBytes ?? 0) + (PutOffs?.MemoryBytes ?? 0);

    /// <summary>True if its socket has not taken all of its replies.</summary>
    internal bool HasUnsent => Out.Count > 0;

    /// <summary>True if nothing that it sent, or is to be sent, is still on its way.</summary>
    internal bool IsQuiet => Out.Count + Pending.Count + Pushes.Count == 0 && Big is null && Subscriptions is not { Count: > 0 };

    /// <summary>It gets nothing any more, and is closed at the end of the round.</summary>
    internal void Mute()
    {
        CloseAfterReply = Muted = true;
        Out.Free();
        Pushes.Free();
    }

    /// <summary>What a command has begun that was to run again comes to nothing.</summary>
    internal void EndBegun()
    {
        Begun?.Abandon(this);
        Begun = null;
    }

    /// <summary>Its session for values beside the connection ends.</summary>
    internal void LeaveBulk(string why)
    {
        Bulk?.EndUploads(long.MaxValue);
        Bulk?.Close(why);
        Bulk = null;
    }

    /// <summary>Keeps bytes that have been received and not framed.</summary>
    internal void Keep(byte* at, byte* end) => Pending.Append(at, (int)(end - at));

    /// <summary>Keeps the beginning of a command; <paramref name="needed"/> bytes are needed of it.</summary>
    internal void KeepPartial(byte* at, byte* end, long needed)
    {
        if (end - at <= BigRequest.Threshold && needed <= BigRequest.Threshold)
        {
            Keep(at, end);
            return;
        }

        Big = BigRequest.Begin(at, end, needed);
    }

    /// <summary>net.R4: everything that has not run goes back to the connection's own memory, replacing what framing kept.</summary>
    internal void KeepRest(byte* from)
    {
        IsRestKept = true;
        Pending.Free();
        if (from == RunningBig?.Start)
        {
            Big = RunningBig; // with all that has arrived behind it
            Big.Rewind();
            return;
        }

        Big?.Dispose();
        Big = null;
        if (RoundEnd - from > Worker.ReceiveBytesMax)
            Big = BigRequest.Begin(from, RoundEnd, 0); // a command that came in memory of its own does not fit into the arena later either
        else if (RoundEnd > from)
            Keep(from, RoundEnd);
    }

    /// <summary>
    /// The client is stopped, perhaps by a command of its own, which has kept the rest, perhaps by its replies, which the log or the socket holds up:
    /// then what has not run, from here on, is kept now.
    /// </summary>
    internal void KeepUnrun(byte* from)
    {
        if (!IsRestKept && !Closed && !CloseAfterReply)
            KeepRest(from);
    }

    /// <summary>Behind a command: the next one is heard. Where its own reply is to be dropped and comes later, that is seen to.</summary>
    internal void EndSkipped(Reply reply)
    {
        if ((Modes & ClientModes.ReplySkipped) == 0)
            return;
        Modes &= ~ClientModes.ReplySkipped;
        if (reply == Reply.Parked)
            Waiting!.IsSilent = true;
        else if (reply == Reply.Postponed)
            Modes |= ClientModes.ReplySkip; // it runs again
    }

    /// <summary>Gives all buffers back.</summary>
    internal void FreeBuffers()
    {
        Pending.Free();
        Out.Free();
        Pushes.Free();
        Big?.Dispose();
        Big = null;
    }
}
