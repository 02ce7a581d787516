using Garnet.Aof.Format;
using Garnet.Bulk;
using Garnet.Types.Strings;

namespace Garnet.Server.Bulk;

/// <summary>
/// One transfer between a client's memory and staged bytes, or some of them, away from the reactor that has begun it. It has the bytes
/// until it is over and its beginner has given it up, whichever is later (bulk.S2).
/// </summary>
internal sealed class BulkTransfer(BulkSession session, StagedBytes staged, int start, int length)
{
    private const int Running = 0, Over = 1, GivenUp = 2;

    private int _state;

    /// <summary>The bytes, of which it moves some or all.</summary>
    internal StagedBytes Staged => staged;

    /// <summary>The first that it moves.</summary>
    internal int Start => start;

    /// <summary>How many it moves.</summary>
    internal int Length => length;

    /// <summary>How many bytes each value has, where it moves several, one behind the other; empty where it moves one.</summary>
    internal int[] Parts { get; init; } = [];

    /// <summary>Version and CRC-32C of each of several values.</summary>
    internal (ulong Version, uint Crc)[] OfParts { get; private set; } = [];

    /// <summary>True once no byte moves any more.</summary>
    internal bool IsOver => Volatile.Read(ref _state) == Over;

    internal TransferEnd End { get; private set; }

    /// <summary>What there is to say of an end that is no good one.</summary>
    internal string Detail { get; private set; } = "";

    /// <summary>The version (<see cref="ValueDigest"/>) of the bytes.</summary>
    internal ulong Version { get; private set; }

    /// <summary>CRC-32C of the bytes.</summary>
    internal uint Crc { get; private set; }

    /// <summary>Takes the bytes out of the client's memory.</summary>
    internal void BeginRead(RemoteRange[] from, Action over) => _ = Task.Run(async () =>
    {
        End = await session.MoveAsync(writes: false, staged.Memory.Slice(start, length), from).ConfigureAwait(false);
        if (End == TransferEnd.Done)
            Look();
        Finish(over);
    });

    /// <summary>Puts the bytes into the client's memory, unless a version is wanted that they are not.</summary>
    internal void BeginWrite(RemoteRange[] to, ulong? wanted, Action over) => _ = Task.Run(async () =>
    {
        Look();
        End = wanted is { } version && version != Version ? TransferEnd.OtherVersion
            : await session.MoveAsync(writes: true, staged.Memory.Slice(start, length), to).ConfigureAwait(false);
        Finish(over);
    });

    /// <summary>Moves nothing: looks at what is there.</summary>
    internal void BeginLook(Action over) => _ = Task.Run(() =>
    {
        Look();
        Finish(over);
    });

    /// <summary>Nobody wants it any more; once.</summary>
    internal void GiveUp()
    {
        if (Interlocked.Exchange(ref _state, GivenUp) == Over)
            staged.Release();
    }

    private void Look()
    {
        ReadOnlySpan<byte> bytes = staged.GetSpan().Slice(start, length);
        if (Parts.Length == 0)
        {
            (Version, Crc) = Of(bytes);
            return;
        }

        var found = new (ulong, uint)[Parts.Length];
        for (int i = 0; i < found.Length; i++)
        {
            found[i] = Of(bytes[..Parts[i]]);
            bytes = bytes[Parts[i]..];
        }

        OfParts = found;
    }

    private static (ulong Version, uint Crc) Of(ReadOnlySpan<byte> bytes) => (ValueDigest.Of(bytes), Crc32C.Of(bytes));

    private void Finish(Action over)
    {
        Detail = session.Why;
        if (Interlocked.CompareExchange(ref _state, Over, Running) == Running)
            over();
        else
            staged.Release();
    }
}
