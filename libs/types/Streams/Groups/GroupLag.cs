namespace Garnet.Types.Streams;

/// <summary>
/// How many entries of a stream a group has read, and how many it has still to read, where that can be told without counting: entries
/// carry no running number, but first and last are known, how many were ever added, and the greatest id that was deleted.
/// </summary>
public static unsafe class GroupLag
{
    /// <summary>The running number of the entry with that id, or of the last one before it; <see cref="GroupState.Unknown"/> if it cannot be told.</summary>
    public static long ReadUpTo(StreamHeader* root, StreamId id)
    {
        if (root->Added == 0)
            return 0;
        if (root->Length == 0 && id <= root->Last)
            return root->Added;
        if (!id.IsZero && id < root->MaxDeleted)
            return GroupState.Unknown;
        if (id >= root->Last)
            return id == root->Last ? root->Added : GroupState.Unknown;
        bool isWhole = root->MaxDeleted.IsZero || root->MaxDeleted < root->First;
        if (!isWhole || id > root->First)
            return GroupState.Unknown;
        return root->Added - root->Length + (id == root->First ? 1 : 0);
    }

    /// <summary>True if entries from an id on may be missing.</summary>
    public static bool HasGaps(StreamHeader* root, StreamId from) =>
        root->Length > 0 && !root->MaxDeleted.IsZero && from <= root->MaxDeleted;

    /// <summary>Moves a group on to an entry that it is given.</summary>
    public static void Advance(StreamHeader* root, GroupState* group, StreamId to)
    {
        if (group->Read != GroupState.Unknown && group->Last >= root->First && !HasGaps(root, group->Last))
            group->Read++;
        else if (root->Added > 0)
            group->Read = ReadUpTo(root, to);
        group->Last = to;
    }

    /// <summary>Entries that the group has not read; false if that cannot be told.</summary>
    public static bool TryCount(StreamHeader* root, in GroupState group, out long lag)
    {
        lag = 0;
        if (root->Added == 0 || root->Length == 0)
            return true;
        if (group.Last < root->First && root->MaxDeleted < root->First)
        {
            lag = root->Length;
            return true;
        }

        long read = group.Read != GroupState.Unknown && !HasGaps(root, group.Last) ? group.Read : ReadUpTo(root, group.Last);
        lag = root->Added - read;
        return read != GroupState.Unknown;
    }
}
