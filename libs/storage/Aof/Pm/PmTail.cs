using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Common;

namespace Garnet.Aof.Pm;

/// <summary>
/// What a ring held when its process, or its machine, ended: put into its file.
/// log.R9: it goes into the file whose header names that ring, and nowhere else. A ring that holds something for a file that is not there is
/// left as it is, and refused: it is all that another directory has of what it acknowledged last.
/// log.R10: the file has all of it, durably, before the ring gives it up; the file's header asks for the ring until that is so, and the ring
/// knows its file until the header does not: who is interrupted here does the same again.
/// </summary>
internal sealed class PmTail(PmRing ring, string path, string owner, PlantedPmFault fault = PlantedPmFault.None)
{
    private readonly string _name = LogFileName.Of(ring.Head.Sublog, ring.Head.FirstBatch);

    /// <summary>Does so; returns how many bytes there were.</summary>
    /// <exception cref="GarnetException">They belong elsewhere, or nowhere.</exception>
    public long PutInto(IDisk disk)
    {
        if (ring.Number == 0)
            return 0;
        PmPlace next = ring.Head.Place;
        bool holds = ring.TryFind(ref next, out _);
        if (!disk.List().Contains(_name))
            return holds ? throw Elsewhere("there is no such file here") : Forget();
        using IDiskFile file = disk.Open(_name);
        bool isOwn = TailFiles.TryHeader(file, out FileHeader header)
            && header.HasTail && header.Run == PmRing.Run && header.TailNumber == ring.Number;
        if (!isOwn)
            return holds ? throw Elsewhere("the file of that name here is another, or was made anew") : Forget();
        // log.R11: what is behind the place was written after heads that cannot be read, over what stood at the place.
        if (!holds && ring.MayLackHead && ring.HoldsBehind(ring.Head.Place))
            throw PmRings.Damaged(path, $"its newest head cannot be read, and it has records of {_name} that none of its heads leads to");
        PmPlace end = Put(file);
        long put = end.FileOffset - ring.Head.Place.FileOffset;
        if (fault != PlantedPmFault.HeadBeforeSync)
            file.Sync();
        if (put > 0)
            Done(ring.GiveUp(end)); // log.R10
        TailFiles.Settle(file);
        Forget();
        return put;
    }

    // log.R4: a record that is whole and says what cannot be is no interrupted write.
    private PmPlace Put(IDiskFile file)
    {
        long length = file.Length;
        PmPlace at = ring.Head.Place;
        for (PmPlace next = at; ring.TryFind(ref next, out ReadOnlySpan<byte> bytes); at = next)
        {
            if (next.FileOffset > length)
            {
                throw PmLayout.Refused(path, $"a record of it ends at {next.FileOffset} of {_name}, which has {length} bytes",
                    "put the file back as it was");
            }

            file.Write(at.FileOffset, bytes);
        }
        return at;
    }

    private long Forget()
    {
        Done(ring.Forget());
        return 0;
    }

    private static void Done(int error)
    {
        if (error != 0)
            throw PmRing.Failure("empty", error);
    }

    private GarnetException Elsewhere(string why) => new(ExitKind.Data,
        $"aof-pm-path holds what was last acknowledged for another log: {path}", $"it was used for {owner}, file {_name}: {why}",
        "start the server of that directory with it once and stop it, which empties it; or name a file of zeros, and keep this one");
}
