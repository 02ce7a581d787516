using Garnet.Aof.Format;
using Garnet.Bulk;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.PUT: a value, or a part of one (AT), out of the client's memory.</summary>
internal readonly unsafe struct BulkPut : ICommand
{
    internal const string Writes = "OW UPDATE", ReadsToo = "RW ACCESS UPDATE";

    public static CommandSpec Spec => BulkCommands.Spec("BULK.PUT", -4, CommandFlags.Write | CommandFlags.DenyOom,
        "key <region offset length | INLINE value> [AT offset] [NX | XX | IFVER version] [PX milliseconds] [CRC crc32c]",
        "Sets a string, or a part of one, to bytes of the client's memory.") with
        {
            Keys = KeySpec.One with { Usage = ReadsToo, UsageOf = UsageOf },
            Complexity = "O(N)",
            Event = KeyEvent.Set with { ExpiryAt = 4 },
        };

    public static Reply Run(ref Call call) => Run(ref call, hasCount: false);

    internal static Reply Run(ref Call call, bool hasCount)
    {
        var begun = call.Client.Begun as BulkWait;
        if (!PutTerms.TryParse(ref call, hasCount, out PutTerms terms, out Reply failed))
            return begun?.Drop(failed) ?? failed;
        if (terms.IsInline)
            return BulkChange.Make(ref call, in terms, call.Args[3].Bytes, ValueDigest.Of(call[3]), Crc32C.Of(call[3]));
        return begun?.Transfer is null ? Begin(ref call, in terms) : Finish(ref call, in terms, begun);
    }

    private static string UsageOf(ref Call call, int name) =>
        UsageBehind(ref call, name + (call.Count > name + 2 && call.Is(name + 2, "INLINE"u8) ? 4 : 5));

    /// <summary>
    /// How a key is used by options from there on: what the value has become is told, of which a part may be old; so is whether it was of
    /// a version.
    /// </summary>
    internal static string UsageBehind(ref Call call, int first)
    {
        for (int i = first; i < call.Count; i++)
        {
            if (call.Is(i, "IFVER"u8) || call.Is(i, "AT"u8))
                return ReadsToo;
        }

        return Writes;
    }

    private static Reply Begin(ref Call call, in PutTerms terms)
    {
        BulkWait wait = BulkWait.Of(ref call);
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed))
            return wait.Drop(failed);
        var from = new RemoteRange[terms.Parts];
        for (int i = 0; i < from.Length; i++)
        {
            int at = terms.FirstPart + (3 * i);
            BulkCommands.TryNumber(ref call, at + 1, out ulong offset);
            BulkCommands.TryNumber(ref call, at + 2, out ulong length);
            if (!BulkCommands.TryRange(ref call, session, (at, offset, length), BulkAccess.Read, out from[i], out failed))
                return wait.Drop(failed);
        }

        BulkWait.MemoryFor memory = terms.At is not null ? Apart : InRecord;
        if (!wait.TryTake(ref call, session, terms.Length, memory, out StagedBytes staged, out failed))
            return failed;
        var transfer = new BulkTransfer(session, staged, 0, staged.Length);
        Reply reply = wait.PutOffFor(ref call, transfer);
        transfer.BeginRead([.. from.Where(static part => part.Length > 0)], wait.Wake);
        return reply;
    }

    internal static StagedBytes? Apart(ref Call call, BulkSession session, int bytes) =>
        call.Session.Room.Demand(bytes) ? StagedBytes.TryOwn(session, call.Server.Store, bytes) : null;

    /// <summary>A long value gathers where it is to lie; a short one is copied there.</summary>
    internal static StagedBytes? InRecord(ref Call call, BulkSession session, int bytes)
    {
        KeyRef key = call.Key;
        return StagedValue.TryBegin(call.Session, in key, bytes) is { } value
            ? new StagedBytes(session, value) : Apart(ref call, session, bytes);
    }

    private static Reply Finish(ref Call call, in PutTerms terms, BulkWait wait)
    {
        if (!wait.TryFinish(ref call, out Reply reply))
            return reply;
        BulkTransfer transfer = wait.Transfer!;
        Check.That(transfer.Staged.Length == terms.Length, "bulk.C1 the command that runs again is the one that was put off");
        try
        {
            // Put off once more, for the tier or for memory, it finds the bytes where they are.
            return wait.Drop(BulkChange.Make(ref call, in terms, transfer.Staged, transfer.Version, transfer.Crc));
        }
        catch (Exception e) when (e is TooLargeException or GarnetException)
        {
            wait.Drop(Reply.Failed);
            throw;
        }
    }
}

/// <summary>BULK.PUTV: a value that lies in parts.</summary>
internal readonly struct BulkPutParts : ICommand
{
    public static CommandSpec Spec => BulkPut.Spec with
    {
        Name = "BULK.PUTV", Arity = -6,
        Keys = KeySpec.One with
        {
            Usage = BulkPut.ReadsToo, UsageOf = static (ref Call call, int name) => BulkPut.UsageBehind(ref call, name + 6),
        },
        Syntax = "key parts region offset length [region offset length ...] [AT offset] [NX | XX | IFVER version] [PX milliseconds] "
            + "[CRC crc32c]",
        Summary = "Sets a string, or a part of one, to bytes that lie in several places of the client's memory.",
        Event = KeyEvent.Set with { ExpiryAt = 6 },
    };

    public static Reply Run(ref Call call) => BulkPut.Run(ref call, hasCount: true);
}
