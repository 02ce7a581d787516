using Garnet.Aof.Shipping;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>The keys that a command's arguments name, looked up in the announcements of what is being applied.</summary>
internal static class NamedKeys
{
    /// <summary>True if nothing of them is newer than the point.</summary>
    internal static unsafe bool AreSeen(ref Call call, CommandEntry* entry, int last, int step, ReadPoint point)
    {
        int first = call.Server.Commands.Specs[entry->Id].Keys.First;
        for (int i = first; i <= last; i += step)
        {
            KeyRef key = i == 1 && entry->FirstKey == 1 ? call.Key : call.KeyAt(i); // the first has been hashed already
            if (!call.Server.Replication.Applied.Sees(key.Hash, point))
                return false;
        }

        return true;
    }

    /// <summary>The last argument that is a key; one before the first if that cannot be said: the command will answer with an error.</summary>
    internal static (int Last, int Step) LastOf(ref Call call, KeySpec keys)
    {
        if (keys.First == 0)
            return (-1, 1);
        if (keys.CountArg == 0)
            return (Math.Min(keys.Last < 0 ? call.Count + keys.Last : keys.Last, call.Count - 1), keys.Step);
        if (!call.TryInt64(keys.CountArg, out long count) || count < 1 || count > (call.Count - keys.First) / keys.Step)
            return (-1, 1);
        return (keys.First + ((int)(count - 1) * keys.Step), keys.Step);
    }
}
