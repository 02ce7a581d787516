using Garnet.Aof.Disk;
using Garnet.Aof.Reading;
using Garnet.Common;

namespace Garnet.Aof.Recovery;

/// <summary>Small files as a whole, and copies of big ones, with the alignment that a disk may ask of writes.</summary>
internal static unsafe class WholeFile
{
    /// <summary>The first bytes of a file, up to the number given.</summary>
    public static byte[] Read(IDisk disk, string name, int bytesMax)
    {
        using var view = new DiskView(disk);
        view.Open(name);
        int bytes = (int)Math.Min(view.Length, bytesMax);
        byte* at = view.At(0, bytes);
        return at == null ? [] : new ReadOnlySpan<byte>(at, bytes).ToArray();
    }

    /// <summary>Writes a new file and makes its bytes durable; one of that name is replaced.</summary>
    public static void Write(IDisk disk, string name, ReadOnlySpan<byte> bytes)
    {
        if (disk.List().Contains(name))
            disk.Delete(name);
        using IDiskFile file = disk.Create(name, 0);
        using var block = new NativeBuffer();
        block.Grow(Math.Max(bytes.Length, 1), 0);
        var all = new Span<byte>(block.Bytes, (int)block.Capacity);
        all.Clear();
        bytes.CopyTo(all);
        int aligned = (bytes.Length + file.Alignment - 1) / file.Alignment * file.Alignment;
        file.Write(0, all[..aligned]);
        file.SetLength(bytes.Length);
        file.Sync();
    }

    /// <summary>Copies a file and makes the copy's bytes durable.</summary>
    public static void Copy(IDisk disk, string from, string to)
    {
        using var view = new DiskView(disk);
        view.Open(from);
        using IDiskFile copy = disk.Create(to, 0);
        for (long at = 0; at < view.Length; at += DiskView.BlockBytes)
        {
            int bytes = (int)Math.Min(DiskView.BlockBytes, view.Length - at);
            byte* source = view.At(at, bytes);
            int aligned = (bytes + NativeBuffer.Alignment - 1) & -NativeBuffer.Alignment;
            new Span<byte>(source + bytes, aligned - bytes).Clear(); // the view's block is as long
            copy.Write(at, new ReadOnlySpan<byte>(source, aligned));
        }
        copy.SetLength(view.Length);
        copy.Sync();
    }
}
