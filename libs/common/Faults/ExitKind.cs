namespace Garnet.Common;

/// <summary>Why the process ends, as the exit code a supervisor sees (the numbers of sysexits.h).</summary>
public enum ExitKind
{
    /// <summary>A setting, an option or a combination of them is wrong.</summary>
    Configuration = 64,
    /// <summary>Data that is there cannot be read.</summary>
    Data = 65,
    /// <summary>An address or a socket file is taken.</summary>
    PortInUse = 69,
    /// <summary>The system refuses access to a file, a port or a directory.</summary>
    Permission = 77,
}
