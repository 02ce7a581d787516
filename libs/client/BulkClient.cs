using System.Buffers;
using System.Globalization;
using System.Net;
using System.Text;
using Garnet.Bulk;

namespace Garnet.Client;

/// <summary>
/// A connection to a Garnet server over which values of megabytes are put and got. Where the server reaches this process's memory (it is
/// on this machine, of the same user, and the native library is there) it reads and writes in the buffers; elsewhere the bytes go over
/// the connection, with the same calls and results. One call is under way at a time, others wait for it.
/// </summary>
public sealed class BulkClient : IAsyncDisposable
{
    private const string Local = "local", Inline = "inline";
    private const int ItemsMax = 64; // of one BULK.MPUT or BULK.MGET

    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly Connection _connection;
    private readonly TimeSpan _timeout;
    private BulkEndpoint? _endpoint;
    private int _lastId;
    private volatile bool _isBroken;

    private BulkClient(Connection connection, TimeSpan timeout) => (_connection, _timeout) = (connection, timeout);

    /// <summary>What carries the bytes: <c>inline</c> is the connection.</summary>
    public string Provider { get; private set; } = Inline;

    /// <summary>True if the server reads and writes in the buffers.</summary>
    public bool Reaches => Provider != Inline;

    /// <exception cref="BulkRefusedException">The server has refused the user, or a session.</exception>
    public static async Task<BulkClient> ConnectAsync(
        EndPoint server, BulkClientOptions? options = null, CancellationToken cancel = default)
    {
        options ??= new BulkClientOptions();
        Connection connection = await Connection.OpenAsync(server, cancel).ConfigureAwait(false);
        var client = new BulkClient(connection, options.Timeout);
        List<(string Provider, BulkEndpoint Endpoint)> endpoints = [];
        try
        {
            foreach (string provider in options.Providers.Where(static one => one != Inline))
            {
                if (TryOpen(provider, connection.LocalAddress) is { } endpoint)
                    endpoints.Add((provider, endpoint));
            }

            await client.GreetAsync(options, endpoints, cancel).ConfigureAwait(false);
            return client;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
        finally
        {
            foreach ((_, BulkEndpoint endpoint) in endpoints)
            {
                if (endpoint != client._endpoint)
                    await endpoint.DisposeAsync().ConfigureAwait(false);
            }
        }
    }

    // Of a provider that cannot be had here nothing more is said: it goes with those behind it.
    private static BulkEndpoint? TryOpen(string provider, IPAddress? host)
    {
        if (!BulkLibrary.IsAvailable)
            return null;
        IPAddress? bound = provider == Local ? null : host is { IsIPv4MappedToIPv6: true } ? host.MapToIPv4() : host ?? IPAddress.Loopback;
        try
        {
            return BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true, Bind = bound?.ToString() });
        }
        catch (BulkException)
        {
            return null;
        }
    }

    /// <summary>Memory that the server reaches as fast as its own, filled with zeros.</summary>
    public Task<BulkBuffer> AllocateAsync(int bytes, CancellationToken cancel = default)
    {
        IMemoryOwner<byte>? segment = Provider == Local ? BulkSegment.Open(bytes) : null;
        return RegisterAsync(segment?.Memory ?? new byte[bytes], segment, cancel);
    }

    /// <summary>
    /// Memory of the caller's, pinned until the buffer is disposed of; the kernel copies from and to it, at a third of the speed.
    /// </summary>
    public Task<BulkBuffer> RegisterAsync(Memory<byte> memory, CancellationToken cancel = default) => RegisterAsync(memory, null, cancel);

    /// <summary>Null: the condition of the options does not hold, and nothing has changed.</summary>
    public async Task<BulkStored?> PutAsync(
        string key, BulkBuffer from, int offset, int length, BulkPutOptions? options = null, CancellationToken cancel = default)
    {
        ReadOnlyMemory<byte> bytes = from.Memory.Slice(offset, length); // judged here, whoever carries them
        List<ReadOnlyMemory<byte>> words = [Word("BULK.PUT"), Encoding.UTF8.GetBytes(key)];
        if (Reaches)
            words.AddRange([Word(from.Id), Word(offset), Word(length)]);
        else
            words.AddRange([Word("INLINE"), bytes]);
        AddOptions(words, options ?? new BulkPutOptions());
        if (await CallAsync(words, default, cancel).ConfigureAwait(false) is not List<object?> reply)
            return null;
        return new BulkStored(Text(Field(reply, "version")), (uint)Number(reply, "crc"));
    }

    /// <summary>Null: there is no such key.</summary>
    public async Task<BulkFetched?> GetAsync(
        string key, BulkBuffer into, int offset, int capacity, BulkGetOptions? options = null, CancellationToken cancel = default)
    {
        Memory<byte> room = into.Memory.Slice(offset, capacity);
        List<ReadOnlyMemory<byte>> words = [Word("BULK.GET"), Encoding.UTF8.GetBytes(key)];
        if (Reaches)
            words.AddRange([Word(into.Id), Word(offset), Word(capacity)]);
        else
            words.AddRange([Word("INLINE"), Word(capacity)]);
        if (options is { From: > 0 })
            words.AddRange([Word("FROM"), Word(options.From)]);
        if (options?.Length is { } length)
            words.AddRange([Word("LEN"), Word(length)]);
        if (options?.IfVersion is { } version)
            words.AddRange([Word("IFVER"), Word(version)]);
        if (await CallAsync(words, Reaches ? default : room, cancel).ConfigureAwait(false) is not List<object?> reply)
            return null;
        if (!Reaches && Field(reply, "value") is Memory<byte> value && !value.Equals(room[..value.Length]))
            value.CopyTo(room);
        return FetchedOf(reply);
    }

    /// <summary>
    /// Puts up to 64 values at once: all take effect together, or none does. Null: the condition does not hold for one of the keys, and
    /// nothing has changed.
    /// </summary>
    /// <exception cref="ArgumentException">No items or too many, or an option that is one value's: a version, a place, a checksum.</exception>
    public async Task<BulkStored[]?> PutManyAsync(
        IReadOnlyList<BulkItem> items, BulkPutOptions? options = null, CancellationToken cancel = default)
    {
        if (OfOneValue(options) is { } wrong)
            throw new ArgumentException($"{wrong} is that of one value: PutAsync has it", nameof(options));
        List<ReadOnlyMemory<byte>> words = WordsOf("BULK.MPUT", items, static item => item.Buffer.Memory.Slice(item.Offset, item.Length));
        AddOptions(words, options ?? new BulkPutOptions());
        if (await CallAsync(words, default, cancel).ConfigureAwait(false) is not List<object?> reply)
            return null;
        return [.. reply.Select(static one => (List<object?>)one!)
            .Select(static one => new BulkStored(Text(Field(one, "version")), (uint)Number(one, "crc")))];
    }

    /// <summary>Gets up to 64 values, all as they were at one moment; null where there is no such key, or it holds no string.</summary>
    /// <exception cref="ArgumentException">No items or too many.</exception>
    public async Task<BulkFetched?[]> GetManyAsync(IReadOnlyList<BulkItem> items, CancellationToken cancel = default)
    {
        List<ReadOnlyMemory<byte>> words = WordsOf("BULK.MGET", items, static item => Word(item.Length));
        var reply = (List<object?>)(await CallAsync(words, default, cancel).ConfigureAwait(false))!;
        var fetched = new BulkFetched?[items.Count];
        for (int i = 0; i < fetched.Length; i++)
        {
            if (reply[i] is not List<object?> one)
                continue;
            fetched[i] = FetchedOf(one);
            if (!Reaches && Field(one, "value") is Memory<byte> value)
                value.CopyTo(items[i].Buffer.Memory.Slice(items[i].Offset, items[i].Length));
        }

        return fetched;
    }

    // The option that does not go with several values, if there is one.
    private static string? OfOneValue(BulkPutOptions? options) => options switch
    {
        { At: not null } => nameof(BulkPutOptions.At),
        { Crc: not null } => nameof(BulkPutOptions.Crc),
        { IfVersion: not null } => nameof(BulkPutOptions.IfVersion),
        _ => null,
    };

    private List<ReadOnlyMemory<byte>> WordsOf(
        string command, IReadOnlyList<BulkItem> items, Func<BulkItem, ReadOnlyMemory<byte>> inline)
    {
        if (items.Count is 0 or > ItemsMax)
            throw new ArgumentException($"1 to {ItemsMax} items go at once, not {items.Count}", nameof(items));
        List<ReadOnlyMemory<byte>> words = [Word(command), Word(items.Count)];
        foreach (BulkItem item in items)
        {
            _ = item.Buffer.Memory.Slice(item.Offset, item.Length); // judged here, whoever carries them
            words.Add(Encoding.UTF8.GetBytes(item.Key));
            if (Reaches)
                words.AddRange([Word(item.Buffer.Id), Word(item.Offset), Word(item.Length)]);
            else
                words.AddRange([Word("INLINE"), Word(0), inline(item)]);
        }

        return words;
    }

    private static BulkFetched FetchedOf(List<object?> reply)
    {
        (long count, long total, long crc) = (Number(reply, "len"), Number(reply, "total"), Number(reply, "crc"));
        return new BulkFetched((int)count, total, Text(Field(reply, "version")), (uint)crc);
    }

    /// <summary>The buffers are to be disposed of as well; nothing can be put from them any more, or got.</summary>
    public async ValueTask DisposeAsync()
    {
        _isBroken = true;
        _connection.Dispose();
        if (_endpoint is not null)
            await _endpoint.DisposeAsync().ConfigureAwait(false);
        _turn.Dispose();
    }

    private async Task<BulkBuffer> RegisterAsync(Memory<byte> memory, IMemoryOwner<byte>? owner, CancellationToken cancel)
    {
        int id = Interlocked.Increment(ref _lastId);
        BulkRegion? region = Reaches ? _endpoint!.Register(memory, BulkAccess.Read | BulkAccess.Write) : null;
        var buffer = new BulkBuffer(id, memory, owner, region);
        if (buffer.Name is not { } name)
            return buffer;
        try
        {
            List<ReadOnlyMemory<byte>> words = [Word("BULK.REG"), Word(id), Word(name.Base), Word(name.Length), Word(name.Key)];
            await CallAsync(words, default, cancel).ConfigureAwait(false);
            return buffer;
        }
        catch
        {
            buffer.Dispose();
            throw;
        }
    }

    /// <summary>The server forgets a buffer, so that it has room for others (<c>bulk-session-regions</c>).</summary>
    public async Task ReleaseAsync(BulkBuffer buffer, CancellationToken cancel = default)
    {
        buffer.Dispose();
        if (Reaches)
            await CallAsync([Word("BULK.UNREG"), Word(buffer.Id)], default, cancel).ConfigureAwait(false);
    }

    private async Task GreetAsync(
        BulkClientOptions options, List<(string Provider, BulkEndpoint Endpoint)> endpoints, CancellationToken cancel)
    {
        if (options.Password is { } password)
        {
            ReadOnlyMemory<byte>[] user = options.User is null ? [] : [Encoding.UTF8.GetBytes(options.User)];
            await CallAsync([Word("AUTH"), .. user, Encoding.UTF8.GetBytes(password)], default, cancel).ConfigureAwait(false);
        }

        IEnumerable<string> wanted = options.Providers.Where(one => one == Inline || endpoints.Exists(opened => opened.Provider == one));
        List<ReadOnlyMemory<byte>> words = [Word("BULK.HELLO"), Word("1"), Word("PROVIDERS"), Word(string.Join(',', wanted))];
        foreach ((_, BulkEndpoint endpoint) in endpoints)
            words.AddRange([Word("ADDR"), endpoint.Address]);
        var reply = (List<object?>)(await CallAsync(words, default, cancel).ConfigureAwait(false))!;
        Provider = Text(Field(reply, "provider"));
        _endpoint = endpoints.Find(opened => opened.Provider == Provider).Endpoint;
    }

    // A call that did not come to its end leaves a connection on which nothing can be told from anything any more.
    private async Task<object?> CallAsync(List<ReadOnlyMemory<byte>> words, Memory<byte> into, CancellationToken cancel)
    {
        await _turn.WaitAsync(cancel).ConfigureAwait(false);
        bool isBroken = _isBroken;
        _isBroken = true;
        try
        {
            if (isBroken)
                throw new IOException("the connection has ended, or a call on it did not come to its end: connect anew");
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
            limit.CancelAfter(_timeout);
            object? reply = await _connection.CallAsync(words, into, limit.Token).ConfigureAwait(false);
            _isBroken = false;
            return reply;
        }
        catch (BulkRefusedException)
        {
            _isBroken = false;
            throw;
        }
        finally
        {
            _turn.Release();
        }
    }

    private static void AddOptions(List<ReadOnlyMemory<byte>> words, BulkPutOptions options)
    {
        if (options.At is { } at)
            words.AddRange([Word("AT"), Word(at)]);
        if (options.IfAbsent)
            words.Add(Word("NX"));
        if (options.IfPresent)
            words.Add(Word("XX"));
        if (options.IfVersion is { } version)
            words.AddRange([Word("IFVER"), Word(version)]);
        if (options.Expiry is { } expiry)
            words.AddRange([Word("PX"), Word((long)expiry.TotalMilliseconds)]);
        if (options.Crc is { } crc)
            words.AddRange([Word("CRC"), Word(crc)]);
    }

    private static object? Field(List<object?> reply, string name)
    {
        for (int i = 0; i + 1 < reply.Count; i += 2)
        {
            if (reply[i] is Memory<byte> field && Text(field) == name)
                return reply[i + 1];
        }

        throw new InvalidDataException($"the server's reply has no {name}");
    }

    private static long Number(List<object?> reply, string name) =>
        Field(reply, name) is long number ? number : throw new InvalidDataException($"the server's reply has no number {name}");

    private static string Text(object? bytes) => bytes is Memory<byte> text ? Encoding.Latin1.GetString(text.Span) : "";

    private static ReadOnlyMemory<byte> Word(string text) => Encoding.ASCII.GetBytes(text);

    private static ReadOnlyMemory<byte> Word<T>(T number) where T : IFormattable =>
        Word(number.ToString(null, CultureInfo.InvariantCulture));
}
