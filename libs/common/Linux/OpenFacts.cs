namespace Garnet.Common.Linux;

/// <summary>What a file system says of an open file: whose it is, what it is, how long, and on which device it lies.</summary>
public readonly record struct OpenFacts(uint Owner, ushort Mode, long Bytes, uint DeviceMajor, uint DeviceMinor)
{
    private const int TypeBits = 0xF000, RegularFile = 0x8000, OthersWrite = 0x12;

    /// <summary>True for a file, and neither a directory nor a device nor anything else.</summary>
    public bool IsFile => (Mode & TypeBits) == RegularFile;

    /// <summary>True if others than the owner may write to it.</summary>
    public bool IsOthersToo => (Mode & OthersWrite) != 0;
}
