namespace Garnet.Aof.Shipping;

/// <summary>A reader's place in the <see cref="Backlog"/>.</summary>
public sealed class BacklogPin(Backlog backlog, ulong next) : IDisposable
{
    private ulong _next = next;

    /// <summary>The first batch the reader may still want.</summary>
    public ulong Next
    {
        get => Volatile.Read(ref _next);
        set => Volatile.Write(ref _next, value);
    }

    /// <inheritdoc/>
    public void Dispose() => backlog.Unpin(this);
}
