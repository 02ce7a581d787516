using System.Buffers.Text;
using System.Text;
using Microsoft.Win32.SafeHandles;

namespace Garnet.Common.Linux;

/// <summary>
/// A file of one line that the kernel writes anew for whoever reads it (/proc, /sys). It stays open, since opening it costs
/// several times as much as reading it, and whoever watches a server asks every second. One that is read once: <see cref="TextOf"/>.
/// </summary>
public sealed class KernelFile(string path)
{
    private const int LineBytesMax = 256, BytesAtOnce = 4096;

    private readonly SafeFileHandle? _file = File.Exists(path)
        ? File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite)
        : null;

    /// <summary>All of such a file, whatever its lines; empty without it. By no stream: a start of the server would load those for nothing else.</summary>
    public static string TextOf(string path)
    {
        if (!File.Exists(path))
            return "";
        using SafeFileHandle file = File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        byte[] bytes = new byte[BytesAtOnce];
        int filled = 0;
        while (RandomAccess.Read(file, bytes.AsSpan(filled), filled) is > 0 and var got)
        {
            filled += got;
            if (filled == bytes.Length)
                Array.Resize(ref bytes, bytes.Length * 2);
        }
        return Encoding.UTF8.GetString(bytes, 0, filled);
    }

    /// <summary>The number at a place in the line, counted by blanks from 0; false without the file, or if something else stands there.</summary>
    public bool TryNumber(int place, out long number)
    {
        number = 0;
        if (_file is null)
            return false;
        Span<byte> line = stackalloc byte[LineBytesMax];
        ReadOnlySpan<byte> rest = line[..RandomAccess.Read(_file, line, 0)];
        rest = rest is [.., (byte)'\n'] ? rest[..^1] : rest;
        for (; place > 0; place--)
        {
            int blank = rest.IndexOf((byte)' ');
            if (blank < 0)
                return false;
            rest = rest[(blank + 1)..];
        }

        return Utf8Parser.TryParse(rest, out number, out int used) && (used == rest.Length || rest[used] == ' ');
    }
}
