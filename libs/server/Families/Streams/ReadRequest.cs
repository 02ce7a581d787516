using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Streams;

/// <summary>The arguments of XREAD and XREADGROUP, read as Redis does.</summary>
internal struct ReadRequest
{
    internal bool IsGroup;
    /// <summary>Entries per stream at most, 0 for no limit.</summary>
    internal long Count;
    /// <summary>How long to wait, 0 for ever, -1 not at all.</summary>
    internal long BlockMs;
    internal bool NoAck;
    /// <summary>Entries that others have left alone so long are claimed.</summary>
    internal long? ClaimMs;
    /// <summary>The argument that names the group; the consumer follows. 0 without.</summary>
    internal int GroupAt;
    internal int FirstKey;
    internal int Keys;

    internal readonly long Max => Count > 0 ? Math.Min(Count, int.MaxValue) : int.MaxValue;

    /// <summary>Reads all but the ids; on false the error has been written.</summary>
    internal static bool TryRead(ref Call call, bool isGroup, out ReadRequest request)
    {
        request = new ReadRequest { IsGroup = isGroup, BlockMs = -1 };
        int streams = KeyPositions.StreamsAt(ref call, 1, call.Count);
        for (int i = 1; i < streams; i++)
        {
            int more = call.Count - i - 1;
            if (call.Is(i, "BLOCK"u8) && more > 0)
            {
                if (!request.TryBlock(ref call, ++i))
                    return false;
            }
            else if (call.Is(i, "COUNT"u8) && more > 0)
            {
                if (!call.TryInt64(++i, out request.Count))
                    return Fail(ref call, Fault.NotAnInteger);
            }
            else if (call.Is(i, "CLAIM"u8) && more > 0 && isGroup)
            {
                if (!request.TryClaim(ref call, ++i))
                    return false;
            }
            else if (call.Is(i, "GROUP"u8) && more > 1)
            {
                if (!isGroup)
                    return StreamCommands.Fail(ref call,
                        "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."u8);
                request.GroupAt = i + 1;
                i += 2;
            }
            else if (call.Is(i, "NOACK"u8))
            {
                if (!isGroup)
                    return StreamCommands.Fail(ref call,
                        "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."u8);
                request.NoAck = true;
            }
            else
            {
                return Fail(ref call, Fault.Syntax);
            }
        }

        return streams < call.Count - 1 ? request.TryKeys(ref call, streams + 1) : Fail(ref call, Fault.Syntax);
    }

    private bool TryBlock(ref Call call, int index)
    {
        if ((call.Client.Modes & ClientModes.Script) != 0) // it would wait for nothing
        {
            call.FailText($"ERR {call.Text(0)} command is not allowed with BLOCK option from scripts");
            return false;
        }

        if (!call.TryInt64(index, out BlockMs))
            return Fail(ref call, Fault.TimeoutNotAnInteger);
        return BlockMs >= 0 || Fail(ref call, Fault.TimeoutNegative);
    }

    private bool TryClaim(ref Call call, int index)
    {
        if (!call.TryInt64(index, out long claimMs))
            return StreamCommands.Fail(ref call, "ERR min-idle-time is not an integer or out of range"u8);
        ClaimMs = claimMs;
        return claimMs >= 0 || StreamCommands.Fail(ref call, "ERR min-idle-time must be a positive integer"u8);
    }

    private bool TryKeys(ref Call call, int first)
    {
        FirstKey = first;
        int rest = call.Count - first;
        Keys = rest / 2;
        if (rest % 2 != 0)
            return StreamCommands.Fail(ref call,
                "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."u8);

        return !IsGroup || GroupAt > 0 || StreamCommands.Fail(ref call, "ERR Missing GROUP option for XREADGROUP"u8);
    }

    private static bool Fail(ref Call call, Fault fault)
    {
        call.Fail(fault);
        return false;
    }
}
