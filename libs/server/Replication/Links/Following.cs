using System.Buffers.Binary;
using System.Globalization;
using System.Net.Sockets;
using Garnet.Common;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>
/// Keeps a replica with its primary: connects, says where the log stands, takes what comes, and does it again when the link breaks,
/// after a pause that grows. One thread (the caller's) receives, one applies, one acknowledges; what they do is the follower's
/// and the link's.
/// </summary>
internal sealed class Following(ServerCore server, Follower follower, Peer primary, Adoption adoption, Moves moves, ReadFigures reads)
{
    private const int PauseMsMin = 100, AckEveryMs = 1000, LookMs = 100, GateUs = 50;

    private readonly Signal _work = new(), _room = new(), _acks = new(), _pause = new(), _told = new();
    private readonly DigestCheck _check = new(server.Store, server.Settings.Memory.Databases, follower);
    private readonly ReplicationSettings _settings = server.Settings.Replication;
    private volatile bool _isCancelled;
    private LinkSocket? _socket;
    private PrimaryLink? _link;
    private long _heardUs = server.Clock.MonotonicUs;
    private long _downSinceUs = server.Clock.MonotonicUs;
    private volatile string _lastReason = "";

    /// <summary>The primary.</summary>
    internal Peer Primary => primary;

    /// <summary>True while batches come in.</summary>
    internal bool IsUp => Volatile.Read(ref _link) is { IsStreaming: true };

    /// <summary>True while the connection stands and the snapshot comes in.</summary>
    internal bool IsSyncing => Volatile.Read(ref _link) is not null && follower.IsLoading;

    /// <summary>Why the last attempt ended, on one line; empty while nothing was wrong.</summary>
    internal string Problem => _lastReason;

    /// <summary>What the primary answered last.</summary>
    internal PlanFrame? Plan { get; private set; }

    /// <summary>Microseconds since something came.</summary>
    internal long SilentUs => server.Clock.MonotonicUs - Volatile.Read(ref _heardUs);

    /// <summary>Seconds since the link broke.</summary>
    internal long DownSeconds => (server.Clock.MonotonicUs - Volatile.Read(ref _downSinceUs)) / 1_000_000;

    /// <summary>State of the link in ROLE's words.</summary>
    internal string State => IsUp ? "connected" : IsSyncing ? "sync" : Volatile.Read(ref _socket) is null ? "connect" : "connecting";

    /// <summary>Follows until <see cref="Cancel"/>.</summary>
    internal void Run()
    {
        Thread apply = BackgroundThread.Begin("replica apply", ApplyLoop, server.Fail);
        Thread acknowledge = BackgroundThread.Begin("replica acknowledge", AckLoop, server.Fail);
        Thread compare = BackgroundThread.Begin("replica digest", CompareLoop, server.Fail);
        int pauseMs = PauseMsMin;
        while (!_isCancelled)
        {
            bool streamed = TryFollow(out string reason);
            if (streamed)
                Volatile.Write(ref _downSinceUs, server.Clock.MonotonicUs); // not by every attempt: Sentinels judge a replica by it
            if (_isCancelled)
                break;
            reason = OneLine(reason);
            if (reason != _lastReason)
                server.Log.LinkBroken(primary.ToString(), reason);
            _lastReason = reason;
            pauseMs = streamed ? PauseMsMin : Math.Min(pauseMs * 2, _settings.PauseMsMax);
            _pause.Wait(pauseMs);
        }

        apply.Join();
        acknowledge.Join();
        compare.Join();
    }

    /// <summary>Ends <see cref="Run"/>; from any thread.</summary>
    internal void Cancel()
    {
        _isCancelled = true;
        _pause.Set();
        Volatile.Read(ref _socket)?.Dispose();
        _work.Set();
        _room.Set();
        _acks.Set();
        _told.Set();
    }

    // What a stranger sends must not look like lines of a log.
    private static string OneLine(string reason) => string.Create(reason.Length, reason, static (to, from) =>
    {
        for (int i = 0; i < to.Length; i++)
            to[i] = char.IsControl(from[i]) || from[i] > '~' ? '?' : from[i];
    });

    /// <summary>There may be something to acknowledge.</summary>
    internal void NudgeAck() => _acks.Set();

    // True if the link had come so far that batches came in.
    private bool TryFollow(out string reason)
    {
        bool streamed = false;
        try
        {
            using LinkSocket socket = LinkSocket.Unconnected(_settings.TimeoutMs, adoption.Traffic, server.Tls.OfReplication);
            Interlocked.Exchange(ref _socket, socket); // before the look: whoever cancels sets that first
            if (_isCancelled)
                throw new IOException("this server follows it no more");
            socket.Connect(primary.Host, primary.Port);
            Greet(socket);
            Receive(socket, ref streamed);
            reason = _link?.Fault ?? "the primary closed the connection";
        }
        catch (SocketException e)
        {
            reason = e.SocketErrorCode is SocketError.TimedOut or SocketError.WouldBlock
                ? string.Create(CultureInfo.InvariantCulture, $"nothing was heard of it for {_settings.TimeoutSeconds} s (repl-timeout)")
                : e.Message;
        }
        catch (Exception e) when (BackgroundThread.IsOfEnvironment(e))
        {
            reason = BackgroundThread.WhyOf(e);
        }
        catch (ObjectDisposedException)
        {
            reason = "this server follows it no more";
        }

        Volatile.Write(ref _socket, null);
        Volatile.Write(ref _link, null);
        follower.Disconnect();
        return streamed;
    }

    private void Greet(LinkSocket socket)
    {
        socket.Authenticate(_settings.Credentials);
        string[] places = [follower.Position.ToString(), follower.Earlier.ToString()];
        string hello = socket.Call(["REPL", "HELLO", FrameFormat.Protocol, .. HelloWords, .. places, .. CopyWords()]);
        if (hello.StartsWith($"+REPL {FrameFormat.Protocol} ", StringComparison.Ordinal))
            return;
        if (hello.StartsWith("-ERR unknown command", StringComparison.Ordinal))
            throw new IOException("it is another kind of server, and only one of this kind can be followed. To take over the data of a " +
                "Redis, put its dump.rdb into this server's empty dir and start it, or run garnet-server migrate HOST:PORT");
        if (hello.StartsWith("+REPL ", StringComparison.Ordinal)
            || hello.StartsWith("-ERR this server knows version ", StringComparison.Ordinal))
            throw new IOException($"it speaks another version of the protocol, and this server knows version {FrameFormat.Protocol} " +
                "only: both must be of versions that go together; it answered " + hello);
        throw new IOException("it answered " + hello);
    }

    // What a replica says of itself in front of its place.
    private string[] HelloWords =>
    [
        adoption.RunId, (_settings.AnnouncePort > 0 ? _settings.AnnouncePort : server.LinkPort).ToString(CultureInfo.InvariantCulture),
        _settings.AnnounceAddress.Text is { Length: > 0 } address ? address : "-",
    ];

    private string[] CopyWords() => follower.Copy is { } copy ? [copy.ToString()] : [];

    private void Receive(LinkSocket socket, ref bool streamed)
    {
        using FrameReader reader = FrameReader.OfPrimary();
        var link = new PrimaryLink(follower, TakePlan, TakeDigest);
        Volatile.Write(ref _link, link);
        while (!_isCancelled)
        {
            int got = socket.Receive(reader.Room());
            if (got == 0)
                return;
            Volatile.Write(ref _heardUs, server.Clock.MonotonicUs);
            reader.Arrived(got);
            if (!link.Take(reader))
                return;
            streamed |= link.IsStreaming;
            _work.Set();
            _acks.Set();
            if (link.IsStreaming && (follower.IsTorn || follower.IsDoubted))
                // only a full sync helps
                throw new IOException(follower.IsDoubted
                    ? "the data here are not the primary's"
                    : "a batch of the primary's cannot be applied here");
            while ((follower.WaitingBytes > _settings.ReceiveBytesMax || follower.IsLogFull) && !_isCancelled)
                _room.Wait(LookMs);
        }
    }

    private void TakePlan(PlanFrame plan)
    {
        if (plan.Path.Contains(adoption.RunId))
            throw new IOException("it follows this server itself, directly or through others");
        Plan = plan;
        _lastReason = "";
        adoption.OnPlan(plan, follower.Position, primary);
    }

    private void TakeDigest(DigestFrame digest)
    {
        adoption.PassOn(digest);
        _check.Take(digest);
        _told.Set();
    }

    private void CompareLoop()
    {
        while (!_isCancelled)
        {
            _told.Wait(_check.Waits ? LookMs : Timeout.Infinite);
            if (_isCancelled || _check.Turn() is not { } agrees)
                continue;
            adoption.OnCompared(primary, agrees, follower.Applied);
            if (!agrees)
                follower.Doubt();
        }
    }

    private void ApplyLoop()
    {
        while (!_isCancelled)
        {
            if (!follower.Turn())
            {
                _work.Wait(LookMs);
                continue;
            }

            moves.Tell();
            _acks.Set();
            _room.Set();
            if (reads.Waiting > 0)
                LetReadersIn();
        }

        while (follower.Turn())
        {
            // what has come whole is applied before another role begins
        }

        moves.Tell();
    }

    // Between two batches those who wait for one have a moment: else a key of every batch could be read never.
    private void LetReadersIn()
    {
        long from = server.Clock.MonotonicUs, until = from + GateUs;
        for (int spins = 0; spins < GateUs * 4 && reads.Waiting > 0 && server.Clock.MonotonicUs < until; spins++)
            Thread.SpinWait(20);
        reads.CountHeldUp(server.Clock.MonotonicUs - from);
    }

    private void AckLoop()
    {
        using var writer = new FrameWriter();
        byte[] body = new byte[AckFrame.Bytes];
        AckFrame told = default;
        long toldUs = 0;
        CopyPlace? copied = null;
        while (!_isCancelled)
        {
            _acks.Wait(AckEveryMs);
            if (Volatile.Read(ref _link) is not { } link)
                continue;
            AckFrame ack = link.Ack();
            if (Volatile.Read(ref _socket) is not { } socket || Volatile.Read(ref _link) != link)
                continue; // what was true on one connection is not said on another
            if (follower.IsLoading && follower.Copy is { } copy && copy != copied)
            {
                BinaryPrimitives.WriteUInt64LittleEndian(body, copy.Blocks);
                writer.Add(FrameKind.SnapshotAck, body.AsSpan(0, sizeof(ulong)));
                TrySend(socket, writer);
                copied = copy;
            }

            if (ack == told && server.Clock.MonotonicUs - toldUs < AckEveryMs * 1000L)
                continue;
            (told, toldUs) = (ack, server.Clock.MonotonicUs);
            ack.Write(body);
            writer.Add(FrameKind.Ack, body);
            TrySend(socket, writer);
        }
    }

    private static void TrySend(LinkSocket socket, FrameWriter writer)
    {
        try
        {
            socket.Send(writer);
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            writer.Clear(); // the receiving thread learns of it and says so
        }
    }
}
