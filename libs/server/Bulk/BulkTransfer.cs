using Garnet.Aof.Format;
using Garnet.Bulk;
using Garnet.Types.Strings;

namespace Garnet.Server.Bulk;

/// <summary>
/// One transfer between a client's memory and staged bytes, away from the reactor that has begun it. Whoever has it gives it up when it is over or not: its memory
/// is free once no byte of it moves any more, and its share of the budget with it (rule bulk.S2).
/// </summary>
internal sealed class BulkTransfer(BulkSession session, StagedBytes staged)
{
    private const int Running = 0, Over = 1, GivenUp = 2;

    private int _state;

    /// <summary>The bytes: what came, or what goes.</summary>
    internal StagedBytes Staged => staged;

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
    internal void BeginRead(RemoteRange from, Action over) => _ = Task.Run(async () =>
    {
        End = await session.MoveAsync(writes: false, staged, from).ConfigureAwait(false);
        if (End == TransferEnd.Done)
            Look(staged.GetSpan());
        Finish(over);
    });

    /// <summary>Puts the bytes into the client's memory, unless a version is wanted that they are not.</summary>
    internal void BeginWrite(RemoteRange to, ulong? wanted, Action over) => _ = Task.Run(async () =>
    {
        Look(staged.GetSpan());
        End = wanted is { } version && version != Version ? TransferEnd.OtherVersion
            : await session.MoveAsync(writes: true, staged, to).ConfigureAwait(false);
        Finish(over);
    });

    /// <summary>It is never begun.</summary>
    internal void Discard() => Free();

    /// <summary>Nobody wants it any more; once.</summary>
    internal void GiveUp()
    {
        if (Interlocked.Exchange(ref _state, GivenUp) == Over)
            Free();
    }

    private void Look(ReadOnlySpan<byte> bytes) => (Version, Crc) = (ValueDigest.Of(bytes), Crc32C.Of(bytes));

    private void Finish(Action over)
    {
        Detail = session.Why;
        if (Interlocked.CompareExchange(ref _state, Over, Running) == Running)
            over();
        else
            Free();
    }

    private void Free()
    {
        int bytes = staged.Length;
        ((IDisposable)staged).Dispose();
        session.Give(bytes);
    }
}
