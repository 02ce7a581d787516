using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>Memory of the host that was asked to be pinned for devices (<see cref="BulkMemory.Pin"/>).</summary>
public sealed class BulkPin : IDisposable
{
    private readonly PinHandle _handle;

    internal BulkPin(ulong pin) => _handle = new PinHandle(pin);

    /// <summary>Ok: the memory is its owner's alone. Device: the driver does not let go of it, and it must never be given back.</summary>
    public BulkStatus Drop()
    {
        _handle.Dispose();
        return _handle.Status;
    }

    public void Dispose() => Drop();
}
