using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Types.Streams;

namespace Garnet.Server.Families.Streams;

/// <summary>The options of XADD and XTRIM, read as Redis does.</summary>
internal struct TrimOptions
{
    internal TrimPlan Plan;
    internal bool OnlyIfThere;
    internal ReferencePolicy Policy;
    /// <summary>The argument that names the producer, 0 without; the entry's name follows if it has one.</summary>
    internal int Producer;
    internal bool Named;
    /// <summary>The argument behind the options.</summary>
    internal int Next;

    private bool _limited;

    /// <summary>Reads options from <paramref name="first"/> on; for XADD up to what must be an id. On false the error has been written.</summary>
    internal static bool TryRead(ref Call call, int first, bool isAdd, out TrimOptions options)
    {
        options = default;
        int i = first;
        while (i < call.Count)
        {
            int more = call.Count - 1 - i;
            if (isAdd && call[i].SequenceEqual("*"u8))
                break;
            if ((call.Is(i, "MAXLEN"u8) || call.Is(i, "MINID"u8)) && more > 0)
            {
                if (!options.TryStrategy(ref call, ref i))
                    return false;
            }
            else if (call.Is(i, "LIMIT"u8) && more > 0)
            {
                if (!options.TryLimit(ref call, i + 1))
                    return false;
                i++;
            }
            else if (isAdd && call.Is(i, "NOMKSTREAM"u8))
            {
                options.OnlyIfThere = true;
            }
            else if (isAdd && ((call.Is(i, "IDMPAUTO"u8) && more > 0) || (call.Is(i, "IDMP"u8) && more > 1)))
            {
                if (!options.TryProducer(ref call, ref i))
                    return false;
            }
            else if (TryPolicy(ref call, i, out ReferencePolicy policy))
            {
                options.Policy = policy;
            }
            else if (isAdd)
            {
                break;
            }
            else
            {
                return Fail(ref call, FaultText.Of(Fault.Syntax));
            }

            i++;
        }

        options.Next = i;
        return true;
    }

    private bool TryStrategy(ref Call call, ref int i)
    {
        if (Plan.IsSet)
            return Fail(ref call, "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"u8);
        Plan.IsSet = true;
        Plan.ByLength = call.Is(i, "MAXLEN"u8);
        if (call.Count - 1 - i >= 2 && call[i + 1] is [(byte)'~' or (byte)'=']) // with nothing behind, it is the threshold itself
            Plan.IsRough = call[++i][0] == '~';
        i++;
        if (!Plan.ByLength)
            return StreamCommands.TryId(ref call, i, 0, out Plan.MinId);
        if (!call.TryInt64(i, out Plan.LengthMax))
            return Fail(ref call, FaultText.Of(Fault.NotAnInteger));
        return Plan.LengthMax >= 0 || Fail(ref call, "ERR The MAXLEN argument must be >= 0."u8);
    }

    private bool TryProducer(ref Call call, ref int i)
    {
        if (Producer > 0)
            return Fail(ref call, "ERR IDMP/IDMPAUTO specified multiple times"u8);
        Named = call[i].Length == 4;
        Producer = i + 1;
        i += Named ? 2 : 1;
        if (call[Producer].IsEmpty)
            return Fail(ref call,
                Named ? "ERR IDMP requires a non-empty producer ID"u8 : "ERR IDMPAUTO requires a non-empty producer ID"u8);
        return !Named || !call[i].IsEmpty || Fail(ref call, "ERR IDMP requires a non-empty idempotent ID"u8);
    }

    private bool TryLimit(ref Call call, int index)
    {
        _limited = true;
        if (!call.TryInt64(index, out Plan.Limit))
            return Fail(ref call, FaultText.Of(Fault.NotAnInteger));
        return Plan.Limit >= 0 || Fail(ref call, "ERR The LIMIT argument must be >= 0."u8);
    }

    /// <summary>Reads what becomes of entries that groups refer to; false if the word is another.</summary>
    internal static bool TryPolicy(ref Call call, int index, out ReferencePolicy policy)
    {
        policy = call.Is(index, "DELREF"u8)
            ? ReferencePolicy.Delete
            : call.Is(index, "ACKED"u8) ? ReferencePolicy.Acknowledged : ReferencePolicy.Keep;
        return policy != ReferencePolicy.Keep || call.Is(index, "KEEPREF"u8);
    }

    /// <summary>Looks whether the options go together; on false the error has been written.</summary>
    internal bool TrySettle(ref Call call, bool isAdd)
    {
        if (_limited && !Plan.IsSet)
            return Fail(ref call, "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"u8);
        if (!isAdd && !Plan.IsSet)
            return Fail(ref call, "ERR syntax error, XTRIM must be called with a trimming strategy"u8);
        if (_limited && !Plan.IsRough)
            return Fail(ref call, "ERR syntax error, LIMIT cannot be used without the special ~ option"u8);
        if (!_limited && Plan.IsRough)
            Plan.Limit = TrimPlan.LimitFor(call.Server.Settings.Encoding.StreamNodeEntriesMax);
        return true;
    }

    private static bool Fail(ref Call call, ReadOnlySpan<byte> text)
    {
        call.FailBytes(text);
        return false;
    }
}
