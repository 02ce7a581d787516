namespace Garnet.Bulk;

/// <summary>When memory of the host is pinned for devices; the numbers are those of the native interface.</summary>
public enum BulkPinMode : uint
{
    /// <summary>From when a region of a device is open: no device is touched in order to pin.</summary>
    Auto = 0,
    /// <summary>Never.</summary>
    Off = 1,
    /// <summary>At once, by the first device.</summary>
    Forced = 2,
}
