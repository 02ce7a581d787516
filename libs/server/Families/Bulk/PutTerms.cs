using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Strings;

namespace Garnet.Server.Families.Bulk;

/// <summary>What a BULK.PUT asks for.</summary>
[StructLayout(LayoutKind.Auto)]
internal struct PutTerms
{
    internal bool IsInline;
    internal int Parts, FirstPart;
    internal int Length;
    internal long? At;
    internal SetCondition Condition;
    internal int VersionArg;
    internal long ExpireAtMs;
    internal uint? Crc;

    /// <summary>Reads a PUT of one part, or of several behind their number.</summary>
    internal static bool TryParse(ref Call call, bool hasCount, out PutTerms terms, out Reply failed)
    {
        terms = default;
        terms.IsInline = !hasCount && call.Is(2, "INLINE"u8);
        failed = Reply.Sent;
        (terms.FirstPart, terms.Parts) = hasCount ? (3, 0) : (2, 1);
        if (terms.IsInline)
            terms.Length = call[3].Length;
        else if ((hasCount && !terms.TryCount(ref call, out failed)) || !terms.TryPlaces(ref call, out failed))
            return false;
        for (int i = terms.IsInline ? 4 : terms.FirstPart + (3 * terms.Parts); i < call.Count; i++)
        {
            if (!terms.TryOption(ref call, ref i, out failed))
                return false;
        }

        bool isPlain = terms.At is null || terms.ExpireAtMs == 0; // a part of a value does not change when it expires
        failed = isPlain ? Reply.Sent : call.FailBytes("ERR PX does not go with AT: a part of a value has no expiry"u8);
        return isPlain;
    }

    /// <summary>Reads what stands behind the place of bytes that are here, AT left out.</summary>
    internal static bool TryParseOptions(ref Call call, int first, out PutTerms terms, out Reply failed)
    {
        terms = default;
        failed = Reply.Sent;
        for (int i = first; i < call.Count; i++)
        {
            if (!terms.TryOption(ref call, ref i, out failed))
                return false;
        }

        failed = terms.At is null ? Reply.Sent : call.Fail(Fault.Syntax);
        return terms.At is null;
    }

    private bool TryCount(ref Call call, out Reply failed)
    {
        bool fits = BulkCommands.TryNumber(ref call, 2, out ulong count) && count is > 0 and <= BulkCommands.PartsMax;
        Parts = (int)count;
        failed = fits ? Reply.Sent : BulkCommands.FailParts(ref call);
        return fits;
    }

    private bool TryPlaces(ref Call call, out Reply failed)
    {
        long sum = 0;
        failed = call.Count < FirstPart + (3 * Parts) ? call.WrongArity() : Reply.Sent;
        for (int i = 0; i < Parts && failed == Reply.Sent; i++)
        {
            int at = FirstPart + (3 * i);
            if (!BulkRegister.TryId(ref call, at, out _))
                failed = BulkUnregister.FailUnknown(ref call, at);
            else if (!BulkCommands.TryNumber(ref call, at + 1, out _) || !BulkCommands.TryNumber(ref call, at + 2, out ulong length))
                failed = call.Fail(Fault.ValueOutOfRange);
            else
                sum += (long)Math.Min(length, int.MaxValue);
        }

        if (failed == Reply.Sent && (sum > call.Server.ClientLimits.Requests.BulkBytesMax || sum > Tsavorite.Store.ValueBytesMax))
            failed = call.Fail(Fault.StringTooLong);
        Length = (int)Math.Min(sum, int.MaxValue);
        return failed == Reply.Sent;
    }

    private bool TryOption(ref Call call, ref int i, out Reply failed)
    {
        failed = Reply.Sent;
        if (call.Is(i, "NX"u8) || call.Is(i, "XX"u8))
            return TryCondition(ref call, call.Is(i, "NX"u8) ? SetCondition.IfAbsent : SetCondition.IfPresent, out failed);
        if (i + 1 == call.Count)
            failed = call.Fail(Fault.Syntax);
        else if (call.Is(i, "IFVER"u8))
            return TryCondition(ref call, SetCondition.IfDigestEqual, out failed) && (VersionArg = ++i) > 0;
        else if (call.Is(i, "PX"u8) && ExpireAtMs == 0)
            return TryExpiry(ref call, ++i, out failed);
        else if (call.Is(i, "AT"u8) && At is null)
            return TryAt(ref call, ++i, out failed);
        else if (call.Is(i, "CRC"u8) && Crc is null)
            return TryCrc(ref call, ++i, out failed);
        else
            failed = call.Fail(Fault.Syntax);
        return false;
    }

    private bool TryCondition(ref Call call, SetCondition condition, out Reply failed)
    {
        bool isFirst = Condition == SetCondition.Always;
        failed = isFirst ? Reply.Sent : call.Fail(Fault.Syntax);
        Condition = condition;
        return isFirst;
    }

    private bool TryExpiry(ref Call call, int index, out Reply failed)
    {
        failed = Reply.Sent;
        if (!call.TryInt64(index, out long time))
            failed = call.Fail(Fault.NotAnInteger);
        else if (!ExpiryTime.TryAbsolute(time, false, absolute: false, call.NowMs, out ExpireAtMs))
            failed = ExpiryTime.Refuse(ref call);
        return failed == Reply.Sent;
    }

    private bool TryAt(ref Call call, int index, out Reply failed)
    {
        bool isNumber = BulkCommands.TryNumber(ref call, index, out ulong at);
        bool fits = at <= (ulong)call.Server.ClientLimits.Requests.BulkBytesMax;
        At = (long)at;
        failed = !isNumber ? call.Fail(Fault.ValueOutOfRange) : fits ? Reply.Sent : call.Fail(Fault.StringTooLong);
        return isNumber && fits;
    }

    private bool TryCrc(ref Call call, int index, out Reply failed)
    {
        bool fits = BulkCommands.TryNumber(ref call, index, out ulong crc) && crc <= uint.MaxValue;
        Crc = (uint)crc;
        failed = fits ? Reply.Sent : call.Fail(Fault.ValueOutOfRange);
        return fits;
    }
}
