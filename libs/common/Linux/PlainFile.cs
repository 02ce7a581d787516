namespace Garnet.Common.Linux;

/// <summary>A file that an operator names, read as a whole. What is none (a pipe, a terminal) is not opened: that would be to wait for who writes to it.</summary>
public static class PlainFile
{
    /// <summary>What is in it.</summary>
    /// <exception cref="IOException">It is not a file, has more than so many bytes, or cannot be read.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be read.</exception>
    public static byte[] Read(string path, long bytesMax)
    {
        bool isOther = OperatingSystem.IsLinux() && Libc.FactsBehindLinks(path) is { IsFile: false };
        using FileStream? stream = isOther ? null : new FileStream(path, FileMode.Open, FileAccess.Read);
        if (stream is not { CanSeek: true })
            throw new IOException("it is not a file");
        if (stream.Length > bytesMax)
            throw new IOException($"it has more than {bytesMax} bytes");
        byte[] bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }
}
