namespace Garnet.Common.Linux;

/// <summary>What a file system says of an open file: what it is, how long, and on which device it lies.</summary>
public readonly record struct OpenFacts(ushort Mode, long Bytes, uint DeviceMajor, uint DeviceMinor)
{
    private const int TypeBits = 0xF000, RegularFile = 0x8000;

    /// <summary>True for a file, and neither a directory nor a device nor anything else.</summary>
    public bool IsFile => (Mode & TypeBits) == RegularFile;
}
