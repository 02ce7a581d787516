using Garnet.Aof.Shipping;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Admission;

/// <summary>The keys that a command's arguments name, looked up in the announcements of what is being applied.</summary>
internal static class NamedKeys
{
    /// <summary>True if nothing of them is newer than the point.</summary>
    internal static unsafe bool AreSeen(ref Call call, CommandEntry* entry, KeyPositions positions, ReadPoint point)
    {
        for (int i = 0; i < positions.Count; i++)
        {
            int position = positions[i];
            KeyRef key = position == 1 && entry->FirstKey == 1 ? call.Key : call.KeyAt(position); // the first has been hashed already
            if (!call.Server.Replication.Applied.Sees(key.Hash, point))
                return false;
        }

        return true;
    }
}
