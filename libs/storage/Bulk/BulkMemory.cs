using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>
/// Memory of the host and of devices, by the driver of these, which is opened when the first region of a device is (<see cref="BulkEndpoint.RegisterDevice"/>),
/// or pinning is forced, and never before.
/// </summary>
public static unsafe class BulkMemory
{
    /// <summary>
    /// Between any two memories of this process; whoever calls it waits. Memory of a device has to be in an open region, all of it. Nothing is under way
    /// any more when this ends, however it does.
    /// </summary>
    public static void Copy(void* to, void* from, ulong bytes)
    {
        BulkLibrary.Demand();
        BulkException.ThrowUnlessOk(BulkNative.bk_copy(to, from, bytes));
    }

    /// <summary>When memory is pinned, and how much: by default a quarter of the machine's memory, and no more than this process may lock.</summary>
    public static void ConfigurePinning(BulkPinMode mode, ulong budgetBytes = 0)
    {
        BulkLibrary.Demand();
        var config = new NativePinConfig { Size = (uint)sizeof(NativePinConfig), Mode = mode, BudgetBytes = budgetBytes };
        BulkException.ThrowUnlessOk(BulkNative.bk_pin_configure(&config));
    }

    /// <summary>Whole pages, that stay where they are until the pin is dropped. It is done in the background, as far as it can be, and is never needed.</summary>
    public static BulkPin Pin(void* at, ulong bytes)
    {
        BulkLibrary.Demand();
        ulong pin;
        BulkException.ThrowUnlessOk(BulkNative.bk_pin_add(at, bytes, &pin));
        return new BulkPin(pin);
    }

    public static BulkPinFigures PinFigures
    {
        get
        {
            BulkLibrary.Demand();
            var read = new NativePins { Size = (uint)sizeof(NativePins) };
            BulkException.ThrowUnlessOk(BulkNative.bk_pin_figures(&read));
            return new BulkPinFigures
            {
                Mode = (BulkPinMode)read.Mode,
                PinnedBytes = read.PinnedBytes,
                WaitingBytes = read.WaitingBytes,
                BudgetBytes = read.BudgetBytes,
                Failures = read.Failures,
                SkippedBytes = read.SkippedBytes,
                LeakedBytes = read.LeakedBytes,
            };
        }
    }
}
