using System.Globalization;
using Garnet.Aof.Disk;

namespace Garnet.Aof.Recovery;

/// <summary>Keeps damaged files under the name <c>damaged-&lt;n&gt;-&lt;name&gt;</c>: nothing that is damaged is ever deleted.</summary>
internal static class Aside
{
    /// <summary>Renames the file; durable with the next sync of the directory. Returns the new name.</summary>
    public static string Move(IDisk disk, string name)
    {
        string aside = NameFor(disk, name);
        disk.Rename(name, aside);
        return aside;
    }

    /// <summary>Makes a durable copy of a file that is about to be cut. Returns the copy's name.</summary>
    public static string Copy(IDisk disk, string name)
    {
        string aside = NameFor(disk, name);
        WholeFile.Copy(disk, name, aside);
        disk.SyncDirectory();
        return aside;
    }

    /// <summary>Makes a durable file of what is about to be written over elsewhere.</summary>
    public static void Put(IDisk disk, string name, ReadOnlySpan<byte> bytes)
    {
        WholeFile.Write(disk, NameFor(disk, name), bytes);
        disk.SyncDirectory();
    }

    private static string NameFor(IDisk disk, string name)
    {
        IReadOnlyList<string> taken = disk.List();
        for (int number = 1; ; number++)
        {
            string aside = string.Create(CultureInfo.InvariantCulture, $"damaged-{number}-{name}");
            if (!taken.Contains(aside))
                return aside;
        }
    }
}
