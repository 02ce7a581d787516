using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Bulk;

/// <summary>What a BULK.GET asks for.</summary>
[StructLayout(LayoutKind.Auto)]
internal struct GetTerms
{
    internal bool IsInline;
    internal uint Region;
    internal ulong Offset;
    internal int Capacity;
    internal long From;
    internal long? Length;
    internal ulong? Version;

    internal static bool TryParse(ref Call call, out GetTerms terms, out Reply failed)
    {
        terms = default;
        terms.IsInline = call.Is(2, "INLINE"u8);
        if (!terms.TryPlace(ref call, out failed))
            return false;
        for (int i = terms.IsInline ? 4 : 5; i < call.Count; i += 2)
        {
            if (i + 1 == call.Count)
                failed = call.Fail(Fault.Syntax);
            else if (call.Is(i, "IFVER"u8) && terms.Version is null)
                failed = terms.TakeVersion(ref call, i + 1);
            else if (call.Is(i, "FROM"u8) || call.Is(i, "LEN"u8))
                failed = terms.TakeNumber(ref call, i);
            else
                failed = call.Fail(Fault.Syntax);
            if (failed != Reply.Sent)
                return false;
        }

        bool fits = terms.Length is null || terms.Length <= terms.Capacity;
        failed = fits ? Reply.Sent : call.FailBytes("BULKRANGE LEN is more than there is room for"u8);
        return fits;
    }

    private bool TryPlace(ref Call call, out Reply failed)
    {
        int capacityArg = IsInline ? 3 : 4;
        ulong capacity = 0;
        failed = Reply.Sent;
        if (call.Count <= capacityArg)
            failed = call.WrongArity();
        else if (!IsInline && !BulkRegister.TryId(ref call, 2, out Region))
            failed = BulkUnregister.FailUnknown(ref call, 2);
        else if (!IsInline && !BulkCommands.TryNumber(ref call, 3, out Offset))
            failed = call.Fail(Fault.ValueOutOfRange);
        else if (!BulkCommands.TryNumber(ref call, capacityArg, out capacity))
            failed = call.Fail(Fault.ValueOutOfRange);
        Capacity = (int)Math.Min(capacity, Tsavorite.Store.ValueBytesMax); // no value has more
        return failed == Reply.Sent;
    }

    private Reply TakeVersion(ref Call call, int index)
    {
        bool isVersion = BulkVersion.TryRead(call[index], out ulong version);
        Version = version;
        return isVersion ? Reply.Sent : BulkCommands.FailVersion(ref call);
    }

    private Reply TakeNumber(ref Call call, int index)
    {
        if (!BulkCommands.TryNumber(ref call, index + 1, out ulong number) || number > long.MaxValue)
            return call.Fail(Fault.ValueOutOfRange);
        if (call.Is(index, "FROM"u8))
            From = (long)number;
        else
            Length = (long)number;
        return Reply.Sent;
    }
}
