using Garnet.Aof.Format;
using Garnet.Bulk;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.MPUT: several values out of the client's memory in one transfer. They take effect together, or none does.</summary>
internal readonly unsafe struct BulkPutMany : ICommand
{
    public static CommandSpec Spec =>
        BulkCommands.Spec("BULK.MPUT", -6, CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.MovableKeys,
            "numkeys key <region offset length | INLINE 0 value> [key <region offset length | INLINE 0 value> ...] [NX | XX] "
                + "[PX milliseconds]",
            "Sets strings to bytes of the client's memory, all or none.") with
            {
                Keys = KeyPlaces.Spec(BulkPut.Writes), Complexity = "O(N)", Event = KeyEvent.Set with { ExpiryAt = KeyPlaces.First },
            };

    public static Reply Run(ref Call call)
    {
        var begun = call.Client.Begun as BulkWait;
        if (!KeyPlaces.TryCount(ref call, out int count, out bool isInline, out Reply failed)
            || !TryOptions(ref call, KeyPlaces.End(count), out PutTerms terms, out failed))
            return begun?.Drop(failed) ?? failed;
        if (isInline)
            return RunInline(ref call, count, in terms);
        return begun?.Transfer is null ? Begin(ref call, count) : Finish(ref call, begun, in terms);
    }

    private static Reply RunInline(ref Call call, int count, in PutTerms terms)
    {
        var strings = new ManyStrings(KeyPlaces.First, KeyPlaces.Step, count, call.Args + KeyPlaces.First + 3, KeyPlaces.Step);
        Reply reply = SetAll(ref call, in strings, in terms, out bool applied);
        if (reply != Reply.Sent || !applied)
            return reply == Reply.Sent ? call.Null() : reply;
        call.Out.Array(count);
        for (int i = 0; i < count; i++)
            BulkChange.Answer(ref call, ValueDigest.Of(strings.Value(i).Span), Crc32C.Of(strings.Value(i).Span));
        return Reply.Sent;
    }

    private static bool TryOptions(ref Call call, int first, out PutTerms terms, out Reply failed)
    {
        for (int i = first; i < call.Count; i++)
        {
            if (!call.Is(i, "IFVER"u8) && !call.Is(i, "CRC"u8) && !call.Is(i, "AT"u8))
                continue;
            terms = default;
            failed = call.FailBytes("ERR IFVER, CRC and AT are those of one value: BULK.PUT has them"u8);
            return false;
        }

        return PutTerms.TryParseOptions(ref call, first, out terms, out failed);
    }

    private static Reply Begin(ref Call call, int count)
    {
        BulkWait wait = BulkWait.Of(ref call);
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed)
            || !KeyPlaces.TryParse(ref call, session, BulkAccess.Read, count, out RemoteRange[] from, out failed))
            return wait.Drop(failed);
        ulong sum = 0;
        foreach (RemoteRange part in from)
        {
            if (part.Length > (ulong)call.Server.ClientLimits.Requests.BulkBytesMax || (sum += part.Length) > Store.ValueBytesMax)
                return wait.Drop(call.Fail(Fault.StringTooLong));
        }

        if (!wait.TryTake(ref call, session, (int)sum, BulkPut.Apart, out StagedBytes staged, out failed))
            return failed;
        int[] parts = [.. from.Select(static part => (int)part.Length)];
        var transfer = new BulkTransfer(session, staged, 0, staged.Length) { Parts = parts };
        Reply reply = wait.PutOffFor(ref call, transfer);
        transfer.BeginRead([.. from.Where(static part => part.Length > 0)], wait.Wake);
        return reply;
    }

    private static Reply Finish(ref Call call, BulkWait wait, in PutTerms terms)
    {
        if (!wait.TryFinish(ref call, out Reply reply))
            return reply;
        BulkTransfer transfer = wait.Transfer!;
        Arg* values = stackalloc Arg[BulkCommands.PartsMax];
        byte* at = transfer.Staged.Bytes;
        for (int i = 0; i < transfer.Parts.Length; at += transfer.Parts[i++])
            values[i] = new Arg { Bytes = at, Length = transfer.Parts[i] };
        var strings = new ManyStrings(KeyPlaces.First, KeyPlaces.Step, transfer.Parts.Length, values, 1);
        try
        {
            // bulk.C1; if this puts the command off (for the tier, or for memory), its next run finds the bytes staged as they are.
            reply = SetAll(ref call, in strings, in terms, out bool applied);
            return wait.Drop(reply != Reply.Sent ? reply : applied ? Answer(ref call, transfer) : call.Null());
        }
        catch (Exception e) when (e is TooLargeException or GarnetException)
        {
            wait.Drop(Reply.Failed);
            throw;
        }
    }

    private static Reply SetAll(ref Call call, in ManyStrings strings, in PutTerms terms, out bool applied) =>
        ManyCommands.SetAll(
            ref call, in strings, new SetValue { Condition = terms.Condition, ExpireAtMs = terms.ExpireAtMs }, out applied);

    private static Reply Answer(ref Call call, BulkTransfer transfer)
    {
        call.Out.Array(transfer.Parts.Length);
        foreach ((ulong version, uint crc) in transfer.OfParts)
            BulkChange.Answer(ref call, version, crc);
        return Reply.Sent;
    }
}
