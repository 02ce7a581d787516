using Garnet.Aof.Format;
using Garnet.Aof.Test.Disk;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>A bit that flips in a log while nobody looks.</summary>
internal static class Rot
{
    /// <summary>Flips a bit of some batch up to the one that is named; false if there is none.</summary>
    public static bool TryFlip(SimulatedDisk disk, ulong upTo, Random random)
    {
        var places = new List<(string File, int At)>();
        foreach ((string name, byte[] bytes) in Logs(disk))
        {
            for (int at = FileHeader.Bytes; at + BatchHeader.Bytes <= bytes.Length; at += BatchHeader.Bytes)
                if (BatchHeader.TryRead(bytes.AsSpan(at), out BatchHeader header, out _) == HeaderState.Whole && header.Batch <= upTo) places.Add((name, at));
        }

        if (places.Count == 0) return false;
        (string file, int place) = places[random.Next(places.Count)];
        byte[] damaged = disk.Get(file);
        damaged[place + random.Next(BatchHeader.Bytes)] ^= (byte)(1 << random.Next(8));
        disk.Put(file, damaged);
        return true;
    }

    /// <summary>Takes away what says how much of received batches was durable here.</summary>
    public static void EraseProofs(SimulatedDisk disk)
    {
        foreach ((string name, byte[] bytes) in Logs(disk))
        {
            for (int at = FileHeader.Bytes; at + DurableProof.Bytes <= bytes.Length; at += DurableProof.Bytes)
                if (DurableProof.TryRead(bytes.AsSpan(at), out _)) bytes.AsSpan(at, DurableProof.Bytes).Clear();
            disk.Put(name, bytes);
        }
    }

    private static List<(string, byte[])> Logs(SimulatedDisk disk) =>
        [.. disk.List().Where(static name => name.EndsWith(".log", StringComparison.Ordinal)).Select(name => (name, disk.Get(name)))];
}
