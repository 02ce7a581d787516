using System.Globalization;
using Garnet.Bulk;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Bulk;

/// <summary>
/// Values of megabytes that go between a client's memory and the server's, beside the connection: the client names its memory, and the
/// server reads and writes there (BULK.PUT, BULK.GET). A transfer runs away from the reactor; its command is put off meanwhile, and what
/// the connection sent behind it waits for it. With INLINE in place of a region the same commands carry the value in themselves.
///
/// bulk.C1  A PUT takes effect when its command runs the second time, with all bytes there: it is then asked about like any command,
///     and its change is SET's (or SETRANGE's), in the store, in the log and to those who look on. Whatever goes wrong before that
///     leaves the old value.
/// bulk.C2  A GET moves bytes that were the value's at one moment: they are copied first, as a reply is.
/// bulk.C3  Nothing that a client says of its memory is believed: not its place, its length, its key, nor that it is still there.
/// </summary>
internal static class BulkCommands
{
    private const CommandFlags NeverWithin = CommandFlags.NoScript | CommandFlags.NoMulti; // they wait for what is outside of the server

    /// <summary>Parts of a value, or keys, in one command.</summary>
    internal const int PartsMax = BulkEndpoint.PartsMax;

    /// <summary>What a command says that needs a session where there is none.</summary>
    internal static ReadOnlySpan<byte> NoSession => "BULKCLOSED there is no session: BULK.HELLO begins one"u8;

    internal static void Register(CommandTable table)
    {
        table.AddContainer(new CommandSpec("BULK", -2, CommandFlags.None)
        {
            Group = "bulk", Summary = "Values that go beside the connection.", Since = "0.1.0",
        });
        table.Add<BulkHello>();
        table.Add<BulkRegister>();
        table.Add<BulkUnregister>();
        table.Add<BulkBye>();
        table.Add<BulkPut>();
        table.Add<BulkPutParts>();
        table.Add<BulkGet>();
        table.Add<BulkGetParts>();
        table.Add<BulkPutMany>();
        table.Add<BulkGetMany>();
        table.Add<BulkOpen>();
        table.Add<BulkWrite>();
        table.Add<BulkCommit>();
        table.Add<BulkAbort>();
        table.Add<BulkInfo>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary) =>
        new(name, arity, flags | NeverWithin) { Group = "bulk", Syntax = syntax, Summary = summary, Since = "0.1.0" };

    /// <summary>Says how many parts there may be.</summary>
    internal static Reply FailParts(ref Call call) => call.FailText($"ERR there are 1 to {PartsMax} parts");

    /// <summary>The client's session; false if there is none, or it has ended, with what was answered.</summary>
    internal static bool TrySession(ref Call call, out BulkSession session, out Reply failed)
    {
        session = call.Client.Bulk!;
        failed = Reply.Sent;
        if (session is null)
            failed = call.FailBytes(NoSession);
        else if (session.IsClosed)
            failed = call.FailText($"BULKCLOSED the session has ended: {OneLine(session.Why)}; BULK.HELLO begins another one");
        return failed == Reply.Sent;
    }

    /// <summary>A number that is not negative, in decimal digits or, behind 0x, in hexadecimal ones.</summary>
    internal static bool TryNumber(ref Call call, int index, out ulong value)
    {
        const int DigitsMax = 20;
        ReadOnlySpan<byte> text = call[index];
        value = 0;
        bool isHexadecimal = text.Length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
        if (text.IsEmpty || text.Length > DigitsMax)
            return false;
        return isHexadecimal ? ulong.TryParse(text[2..], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out value)
            : ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value);
    }

    /// <summary>Bytes of a region that the client has registered for that; false if they are not, with what was answered.</summary>
    internal static bool TryRange(
        ref Call call, BulkSession session, (int Region, ulong Offset, ulong Length) place, BulkAccess access, out RemoteRange range,
        out Reply failed)
    {
        failed = Reply.Sent;
        range = default;
        if (!BulkRegister.TryId(ref call, place.Region, out uint id) || !session.TryRegion(id, out ClientRegion region))
            failed = BulkUnregister.FailUnknown(ref call, place.Region);
        else if (!region.Has(place.Offset, place.Length))
            failed = call.FailBytes("BULKRANGE these bytes are not all in the region"u8);
        else if ((region.Access & access) == 0)
            failed = call.FailText($"BULKKEY the region was not registered to be {(access == BulkAccess.Read ? "read" : "written")}");
        else
            range = region.Place.Range(place.Offset, place.Length);
        return failed == Reply.Sent;
    }

    /// <summary>What a transfer that came to no good end answers.</summary>
    internal static Reply FailEnd(ref Call call, TransferEnd end, string detail) => end switch
    {
        TransferEnd.Key => call.FailBytes("BULKKEY the region's memory is not to be had under the key that was registered"u8),
        TransferEnd.Range => call.FailBytes("BULKRANGE the region is shorter than was registered"u8),
        TransferEnd.Timeout => call.FailBytes("BULKTIMEOUT the transfer did not end in time (bulk-timeout); its session has ended"u8),
        TransferEnd.OtherVersion => FailVersion(ref call),
        _ => call.FailText($"BULKCLOSED the transfer ended with its session: {OneLine(detail)}"),
    };

    internal static Reply FailVersion(ref Call call) => call.FailBytes("BULKVER the value is not of that version"u8);

    private static string OneLine(string text) => text.ReplaceLineEndings(" ");
}
