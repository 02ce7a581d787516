using Garnet.Bulk;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Bulk;

/// <summary>
/// Several keys of a command, each with a place in the client's memory: <c>numkeys key region offset length ...</c>, or each with
/// <c>INLINE 0</c> and the value, or room for one, in the place of these.
/// </summary>
internal static class KeyPlaces
{
    /// <summary>The argument that is the first key.</summary>
    internal const int First = 2;

    /// <summary>From one key to the next.</summary>
    internal const int Step = 4;

    /// <summary>Where the keys stand.</summary>
    internal static KeySpec Spec(string usage) => new(First, -1, Step) { CountArg = 1, Usage = usage };

    /// <summary>The argument behind the last place.</summary>
    internal static int End(int count) => First + (Step * count);

    /// <summary>Number of keys, all there; and whether the values are carried in the command, which is so for all of them or for none.</summary>
    internal static bool TryCount(ref Call call, out int count, out bool isInline, out Reply failed)
    {
        // As KeyPositions reads it: a number that only this understood would have keys that nobody was asked about.
        bool fits = call.TryInt64(1, out long keys) && keys is > 0 and <= BulkCommands.PartsMax;
        count = fits ? (int)keys : 0;
        isInline = false;
        failed = !fits ? call.FailText($"ERR there are 1 to {BulkCommands.PartsMax} keys")
            : call.Count < End(count) ? call.WrongArity() : Reply.Sent;
        for (int i = 0; i < count && failed == Reply.Sent; i++)
        {
            int place = First + (Step * i) + 1;
            bool isHere = call.Is(place, "INLINE"u8);
            if ((i > 0 && isHere != isInline) || (isHere && !call.Is(place + 1, "0"u8)))
                failed = call.FailBytes("ERR INLINE 0 stands in the place of region and offset, for all keys or for none"u8);
            isInline = isHere;
        }

        return failed == Reply.Sent;
    }

    /// <summary>The places, of regions that the client has registered for that; false if they are not, with what was answered.</summary>
    internal static bool TryParse(
        ref Call call, BulkSession session, BulkAccess access, int count, out RemoteRange[] places, out Reply failed)
    {
        places = new RemoteRange[count];
        failed = Reply.Sent;
        for (int i = 0; i < places.Length && failed == Reply.Sent; i++)
        {
            int region = First + (Step * i) + 1;
            if (!BulkCommands.TryNumber(ref call, region + 1, out ulong offset)
                || !BulkCommands.TryNumber(ref call, region + 2, out ulong length))
                failed = call.Fail(Fault.ValueOutOfRange);
            else
                BulkCommands.TryRange(ref call, session, (region, offset, length), access, out places[i], out failed);
        }

        return failed == Reply.Sent;
    }
}
