namespace Garnet.Common.Resp;

/// <summary>Bounds on what a client may send.</summary>
public struct RespLimits
{
    /// <summary>Longest inline command or header line in bytes, as in Redis.</summary>
    public const int LineBytesMax = 64 * 1024;

    /// <summary>Bytes behind every argument that may be read, though they mean nothing.</summary>
    public const int ReadableSlack = 64;

    /// <summary>Most arguments of one command. 1 Mi: an argument costs 16 bytes here, so a request holds at most 16 MiB of them.</summary>
    public const int DefaultArgsMax = 1024 * 1024;

    /// <summary>Arguments before authentication, as in Redis (CVE-2021-32675).</summary>
    public const int UnauthenticatedArgsMax = 10;

    /// <summary>Bytes of an argument before authentication, as in Redis (CVE-2021-32675).</summary>
    public const int UnauthenticatedBulkBytesMax = 16 * 1024;

    /// <summary>Most arguments now.</summary>
    public int ArgsMax;

    /// <summary>Longest argument now, in bytes (<c>proto-max-bulk-len</c>).</summary>
    public long BulkBytesMax;

    /// <summary>True while the tighter limits before authentication apply.</summary>
    public bool Unauthenticated;
}
