using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Tls;
using Garnet.Server.Transactions;

namespace Garnet.Server.Families.Rdb;

/// <summary>
/// What a MIGRATE has sent and waits for. The command begins it and is postponed; when the target has replied it runs again, finds
/// this and finishes. Whoever began it ends its watches (<see cref="EndWatches"/>).
/// </summary>
internal sealed class Migration(MigrateTerms terms, TlsKeys? tls, WatchTable watches) : Parking
{
    private const string NotConnected = "IOERR error or timeout connecting to the client",
        NotWritten = "IOERR error or timeout writing to target instance",
        NotRead = "IOERR error or timeout reading to target instance";

    private volatile bool _isOver;
    private bool _hasHeard, _isUnwatched;

    internal MigrateTerms Terms => terms;

    internal List<MigratedKey> Keys { get; private set; } = [];

    /// <summary>Arguments of the command that began it.</summary>
    internal byte[][] Command { get; init; } = [];

    /// <summary>How often all that was left has been sent.</summary>
    internal int Rounds { get; private set; }

    /// <summary>What went wrong, as the reply says it; empty if nothing did.</summary>
    internal string Error { get; private set; } = "";

    /// <summary>Sends keys, the first ones or those that have changed since, on whatever thread has time.</summary>
    internal void Begin(List<MigratedKey> round, Worker worker, Connection client)
    {
        (Keys, Left) = (round, []);
        Rounds++;
        _isOver = false;
        long nowMs = worker.NowMs;
        _ = Task.Run(async () =>
        {
            await Send(nowMs).ConfigureAwait(false);
            _isOver = true;
            worker.Post(static (owner, resumed, _) => owner.TryResume(resumed!), client);
        });
    }

    internal override bool Resume(Worker worker, Connection client) => _isOver;

    internal override void Abandon(Connection client) => EndWatches();

    /// <summary>The keys that it moves; null if it only copies them.</summary>
    internal WatchedKeys? Watched { get; } = terms.Copies ? null : new WatchedKeys(isMove: true);

    /// <summary>What of the keys has changed since it was sent, and is to be sent again.</summary>
    internal List<MigratedKey> Left { get; private set; } = [];

    /// <summary>Takes a key that was read, under its partition's lock; one that is moved is watched from then on.</summary>
    internal void Add(MigratedKey key, int database, ulong hash)
    {
        Keys.Add(key);
        if (Watched is null)
            return;
        key.Watch = new Watch(Watched, database, key.Name, hash, existed: true);
        watches.Add(key.Watch);
        Watched.Add(key.Watch);
    }

    /// <summary>Nothing is moved any more.</summary>
    internal void EndWatches()
    {
        if (Watched is { } watched && !_isUnwatched)
            watches.End(watched);
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
            foreach (MigratedKey key in Keys)
                await Send(target, key, nowMs).ConfigureAwait(false);
            failure = NotRead;
            for (; greetings > 0; greetings--)
                TakeError(await Heard(target).ConfigureAwait(false));
            bool isWelcome = Error.Length == 0;
            foreach (MigratedKey key in Keys)
            {
                string reply = await Heard(target).ConfigureAwait(false);
                TakeError(reply);
                key.IsTaken = isWelcome && IsDone(reply);
            }
        }
        catch (SocketException) when (failure == NotConnected)
        {
            Error = NotWritten; // refused: Redis finds out when it writes
        }
        catch (Exception e) when (tls is null && !_hasHeard && IsEnd(e))
        {
            Error = $"{failure}: {LinkAdvice.OfMigration.ClosedUnheard}";
        }
        catch (ArgumentException) when (failure == NotConnected)
        {
            Error = NotConnected; // no name of a host: empty, or too long
        }
        catch (IOException e)
        {
            Error = $"{failure}: {e.Message}";
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException)
        {
            Error = failure;
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

    private void TakeError(string reply)
    {
        if (Error.Length > 0 || IsDone(reply))
            return;
        Error = reply.StartsWith('-') ? "ERR Target instance replied with error: " + reply[1..]
            : LinkAdvice.OfMigration.IfTls(reply) is { } advice ? $"{NotRead}: {advice}"
            : "ERR Target instance replied with neither OK nor an error: is it a server of the Redis protocol? The keys are still here";
    }
}
