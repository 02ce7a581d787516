using System.Buffers.Text;
using Microsoft.Win32.SafeHandles;

namespace Garnet.Common.Linux;

/// <summary>
/// A file of one line that the kernel writes anew for whoever reads it (/proc, /sys). It stays open, since opening it costs
/// several times as much as reading it, and whoever watches a server asks every second.
/// </summary>
public sealed class KernelFile(string path)
{
    private const int LineBytesMax = 256;

    private readonly SafeFileHandle? _file = File.Exists(path)
        ? File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite)
        : null;

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
