using System.Buffers;
using System.Text;
using Garnet.Common;

namespace Garnet.Server.Backups;

/// <summary>The operator's key, in a file: 32 bytes as they are, or as 64 hexadecimal digits.</summary>
internal static class BackupKey
{
    private const int TextBytesMax = 256; // digits, and what an editor puts around them
    private const UnixFileMode OfOthers =
        UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    /// <summary>The key in the file; null if none is named.</summary>
    /// <exception cref="GarnetException">There is none in it.</exception>
    internal static byte[]? Read(string path)
    {
        if (path.Length == 0)
            return null;
        byte[] bytes = Bytes(path);
        if (bytes.Length == BackupFormat.KeyBytes)
            return bytes;
        ReadOnlySpan<byte> text = bytes.AsSpan().Trim(" \t\r\n"u8);
        byte[] key = new byte[BackupFormat.KeyBytes];
        bool isText = text.Length == 2 * BackupFormat.KeyBytes
            && Convert.FromHexString(Encoding.Latin1.GetString(text), key, out _, out _) == OperationStatus.Done;
        return isText ? key : throw Refusal(path, $"it has neither {BackupFormat.KeyBytes} bytes nor twice as many hexadecimal digits");
    }

    /// <summary>True if others than its owner may read it.</summary>
    internal static bool IsOpen(string path) => !OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & OfOthers) != 0;

    private static byte[] Bytes(string path)
    {
        try
        {
            using FileStream file = File.OpenRead(path);
            byte[] bytes = new byte[TextBytesMax + 1];
            int got = file.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false);
            return bytes[..got];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refusal(path, e.Message);
        }
    }

    private static GarnetException Refusal(string path, string why) =>
        new(ExitKind.Configuration, $"{path} has no key for backups", why,
            "openssl rand -hex 32 > FILE makes one; keep a copy of it elsewhere");
}
