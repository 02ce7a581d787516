using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Tls;
using Garnet.Server.Transactions;

namespace Garnet.Server.Families.Rdb;

/// <summary>
/// How far a MIGRATE is. Its keys go in pieces, since the core serves nobody else while it reads and deletes them: one is read and sent, the command is postponed until the target has replied, then it runs again,
/// finds this, deletes, and goes on with the next. Whoever began it ends it (<see cref="Abandon"/>); what it is sending the target may still do then, so the keys are nobody else's
/// to send until the target has replied to it or failed to: an old value would come behind a newer one. Likewise those that are only copied.
/// </summary>
internal sealed class Migration(MigrateTerms terms, TlsKeys? tls, WatchTable watches) : Parking
{
    private const string NotConnected = "IOERR error or timeout connecting to the client",
        NotWritten = "IOERR error or timeout writing to target instance",
        NotRead = "IOERR error or timeout reading to target instance",
        KeptChanging = "TRYAGAIN a key kept changing while it was sent: it is still here, and the target has an older copy";

    // Each piece is framed anew, some milliseconds for the longest command: as long as these take to read, or to delete.
    private const int PieceKeysMax = 1024;
    private const long PieceBytesMax = 1 << 20;
    private const int RoundsMax = 5;

    private readonly HashSet<string> _named = new(StringComparer.Ordinal);
    private volatile bool _isAbandoned; // also read while it sends
    private bool _hasHeard, _isUnwatched, _isOver, _isSending;
    private int _next, _pieceEnd, _rounds;
    private long _pieceBytes;

    internal MigrateTerms Terms => terms;

    /// <summary>The keys of the piece, or of its round: what of it was read, and sent.</summary>
    internal List<MigratedKey> Keys { get; private set; } = [];

    /// <summary>What of the keys has changed since it was sent, and is to be sent again.</summary>
    internal List<MigratedKey> Left { get; private set; } = [];

    /// <summary>The keys of the piece, which no other one may send meanwhile.</summary>
    internal WatchedKeys Watched { get; } = new(isMove: true);

    /// <summary>True once a key was there.</summary>
    internal bool HasFound { get; private set; }

    /// <summary>What went wrong first, as the reply says it; empty if nothing did.</summary>
    internal string Error { get; private set; } = "";

    /// <summary>True if the target cannot be had, or takes nothing: there is no sense in going on.</summary>
    internal bool IsBroken { get; private set; }

    /// <summary>Nothing was sent, or what was has been heard of and dealt with: the next piece is to be read, or the rest of it.</summary>
    internal bool IsReading { get; private set; } = true;

    /// <summary>The index of the next key of the piece that is to be read; false at the end of the piece.</summary>
    internal bool TryNext(out int index)
    {
        index = _next;
        return _next < _pieceEnd && _pieceBytes < PieceBytesMax;
    }

    /// <summary>True if the command has named the key before.</summary>
    internal bool HasNamed(ReadOnlySpan<byte> key) => _named.Count > 0 && _named.Contains(Encoding.Latin1.GetString(key));

    /// <summary>It is done with the key of that index.</summary>
    internal void Pass(int index, ReadOnlySpan<byte> key)
    {
        _next = index + 1;
        if (terms.Keys > 1)
            _named.Add(Encoding.Latin1.GetString(key));
    }

    /// <summary>True if all keys are done.</summary>
    internal bool IsAtEnd => _next >= terms.Keys;

    /// <inheritdoc/>
    internal override long MemoryBytes => _pieceBytes;

    /// <inheritdoc/>
    internal override int NextKey => IsReading || terms.Copies ? _next
        : (Keys.Find(static key => key.IsTaken)?.At ?? terms.FirstKey) - terms.FirstKey;

    /// <summary>Another piece is to be read.</summary>
    internal void BeginPiece()
    {
        watches.EndAll(Watched);
        (Keys, Left, _rounds, _pieceBytes, IsReading) = ([], [], 0, 0, true);
        _pieceEnd = Math.Min(_next + PieceKeysMax, terms.Keys);
    }

    /// <summary>Sends the piece, on whatever thread has time.</summary>
    internal void Send(Worker worker, Connection client)
    {
        (IsReading, _isOver, _isSending) = (false, false, true);
        _rounds++;
        long nowMs = worker.NowMs;
        _ = Task.Run(async () =>
        {
            IsBroken = true; // until it has come to its end: in whatever way it fails before
            try
            {
                await Send(nowMs).ConfigureAwait(false);
            }
            finally
            {
                Tell(worker, client); // whatever has come of it: the client and the keys would wait for ever
            }
        });
    }

    /// <summary>The command runs again, behind what others have sent.</summary>
    internal void GoOn(Worker worker, Connection client)
    {
        _isOver = false;
        Tell(worker, client);
    }

    /// <summary>True if what has changed meanwhile goes again: not for ever.</summary>
    internal bool TryTakeLeft()
    {
        if (Left.Count == 0 || IsBroken)
            return false;
        if (_rounds == RoundsMax)
        {
            NoteError(KeptChanging);
            return false;
        }

        (Keys, Left) = (Left, []);
        return true;
    }

    internal override bool Resume(Worker worker, Connection client) => _isOver;

    /// <summary>Nothing is sent any more.</summary>
    internal override void Abandon(Connection client)
    {
        _isAbandoned = true;
        if (!_isSending)
            Unwatch();
    }

    /// <summary>Takes a key that was read, under its partition's lock; it is watched from then on.</summary>
    internal void Add(MigratedKey key, int database, ulong hash)
    {
        HasFound = true;
        Keys.Add(key);
        _pieceBytes += key.Payload!.Length;
        key.Watch = new Watch(Watched, database, key.Name, hash, expireAtMs: 0);
        watches.Add(key.Watch);
        Watched.Add(key.Watch);
    }

    private void Tell(Worker worker, Connection client) =>
        worker.Post(static (owner, resumed, told) => ((Migration)told!).BeOver(owner, resumed!), client, this);

    // On the client's own thread, as all but what is sent.
    private void BeOver(Worker owner, Connection client)
    {
        (_isOver, _isSending) = (true, false);
        if (_isAbandoned)
            Unwatch();
        else
            owner.TryResume(client);
    }

    private void Unwatch()
    {
        if (!_isUnwatched)
            watches.End(Watched);
        _isUnwatched = true;
    }

    private async Task Send(long nowMs)
    {
        using var target = new RespClient(new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true }, terms.TimeoutMs);
        string failure = NotConnected;
        try
        {
            await target.Connect(new DnsEndPoint(terms.Host, terms.Port)).ConfigureAwait(false);
            if (tls is not null)
                await target.Over(Encrypt).ConfigureAwait(false);
            failure = NotWritten;
            int greetings = await Greet(target).ConfigureAwait(false);
            int sent = 0;
            while (sent < Keys.Count && !_isAbandoned)
                await Send(target, Keys[sent++], nowMs).ConfigureAwait(false);
            failure = NotRead;
            bool isWelcome = true;
            for (; greetings > 0; greetings--)
                isWelcome &= TakeReply(await Heard(target).ConfigureAwait(false));
            foreach (MigratedKey key in Keys[..sent])
                key.IsTaken = TakeReply(await Heard(target).ConfigureAwait(false)) && isWelcome;
            IsBroken = !isWelcome;
        }
        catch (SocketException) when (failure == NotConnected)
        {
            Break(NotWritten); // refused: Redis finds out when it writes
        }
        catch (Exception e) when (tls is null && !_hasHeard && IsEnd(e))
        {
            Break($"{failure}: {LinkAdvice.OfMigration.ClosedUnheard}");
        }
        catch (ArgumentException) when (failure == NotConnected)
        {
            Break(NotConnected); // no name of a host: empty, or too long
        }
        catch (IOException e)
        {
            Break($"{failure}: {e.Message}");
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            Break(failure);
        }
        catch (Exception e) when (e is GarnetException or OutOfMemoryException)
        {
            Break($"{failure}: {e.Message}"); // of TLS, or for want of memory: what the target has got is not known
        }
    }

    private static bool IsEnd(Exception e) =>
        e is EndOfStreamException or SocketException { SocketErrorCode: SocketError.ConnectionReset or SocketError.Shutdown };

    private Task<Stream> Encrypt(Socket socket) =>
        AwaitedTlsStream.Agreed(socket, tls!.ConnectInMemory(terms.Host), terms.TimeoutMs, LinkAdvice.OfMigration);

    private async Task<string> Heard(RespClient target)
    {
        string reply = await target.ReadLine().ConfigureAwait(false);
        _hasHeard = true;
        return reply;
    }

    private async Task<int> Greet(RespClient target)
    {
        if (terms.Credentials.Length > 0)
            await target.Send([.. ((string[])["AUTH", .. terms.Credentials]).Select(Encoding.Latin1.GetBytes)]).ConfigureAwait(false);
        await target.Send("SELECT"u8.ToArray(), Encoding.ASCII.GetBytes(terms.Database)).ConfigureAwait(false);
        return terms.Credentials.Length > 0 ? 2 : 1;
    }

    private Task Send(RespClient target, MigratedKey key, long nowMs)
    {
        if (key.Payload is null)
            return target.Send("DEL"u8.ToArray(), key.Name);
        long time = key.ExpireAtMs == 0 ? 0 : Math.Max(key.ExpireAtMs - nowMs, 1);
        byte[][] words =
            ["RESTORE"u8.ToArray(), key.Name, Encoding.ASCII.GetBytes(time.ToString(CultureInfo.InvariantCulture)), key.Payload];
        return target.Send(terms.Replaces || key.WasSent ? [.. words, "REPLACE"u8.ToArray()] : words);
    }

    // Whoever answers something else may be no server of this protocol: what it has got is not safe with it.
    private static bool IsDone(string reply) => reply == "+OK" || reply.StartsWith(':');

    private bool TakeReply(string reply)
    {
        if (IsDone(reply))
            return true;
        NoteError(reply.StartsWith('-') ? "ERR Target instance replied with error: " + reply[1..]
            : LinkAdvice.OfMigration.IfTls(reply) is { } advice ? $"{NotRead}: {advice}"
            : "ERR Target instance replied with neither OK nor an error: is it a server of the Redis protocol? The keys are still here");
        return false;
    }

    private void Break(string error)
    {
        NoteError(error);
        IsBroken = true;
    }

    private void NoteError(string error) => Error = Error.Length > 0 ? Error : error;
}
