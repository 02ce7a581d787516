using Garnet.Aof.Format;
using Garnet.Bulk;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.PUT: a value, or a part of one (AT), out of the client's memory.</summary>
internal readonly unsafe struct BulkPut : ICommand
{
    internal const string Writes = "OW UPDATE", ReadsToo = "RW ACCESS UPDATE";
    private static readonly KeyEvent Patched = new("setrange", NotifyClasses.String);

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
            return Commit(ref call, in terms, call.Args[3].Bytes, ValueDigest.Of(call[3]), Crc32C.Of(call[3]));
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

        BulkWait.MemoryFor memory = terms.At is not null ? Apart : terms.ExpireAtMs == 0 ? InRecord : InRecordThatExpires;
        if (!wait.TryTake(ref call, session, terms.Length, memory, out StagedBytes staged, out failed))
            return failed;
        var transfer = new BulkTransfer(session, staged, 0, staged.Length);
        Reply reply = wait.PutOffFor(ref call, transfer);
        transfer.BeginRead([.. from.Where(static part => part.Length > 0)], wait.Wake);
        return reply;
    }

    private static StagedBytes Apart(ref Call call, BulkSession session, int bytes) => new(session, bytes);

    internal static StagedBytes InRecord(ref Call call, BulkSession session, int bytes) => Staged(ref call, session, bytes, expires: false);

    internal static StagedBytes InRecordThatExpires(ref Call call, BulkSession session, int bytes) =>
        Staged(ref call, session, bytes, expires: true);

    // A long value gathers where it is to lie; a short one is copied there.
    private static StagedBytes Staged(ref Call call, BulkSession session, int bytes, bool expires)
    {
        KeyRef key = call.Key;
        return call.Session.Stage(in key, bytes, expires) is { } value ? new StagedBytes(session, value) : new StagedBytes(session, bytes);
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
            return wait.Drop(Commit(ref call, in terms, transfer.Staged, transfer.Version, transfer.Crc));
        }
        catch (Exception e) when (e is TooLargeException or GarnetException)
        {
            wait.Drop(Reply.Failed);
            throw;
        }
    }

    /// <summary>All bytes are there: what SET does with them. They are not whoever's who had them if they are a record's now.</summary>
    internal static Reply Commit(ref Call call, in PutTerms terms, StagedBytes staged, ulong version, uint crc)
    {
        Reply reply = Commit(ref call, in terms, staged.Bytes, version, crc, staged.Value);
        if (staged.Value is { IsTaken: true })
            call.Server.Bulk.CountPlaced();
        return reply;
    }

    // bulk.C1
    private static Reply Commit(ref Call call, in PutTerms terms, byte* bytes, ulong version, uint crc, StagedValue? staged = null)
    {
        if (terms.Crc is { } wanted && wanted != crc)
            return call.FailBytes("BULKCRC the bytes that came have another CRC-32C than was said"u8);
        if (terms.At is { } at)
            return Patch(ref call, in terms, bytes, at, crc);
        KeyRef key = call.Key;
        var set = new SetValue { Value = bytes, Length = terms.Length, ExpireAtMs = terms.ExpireAtMs, Condition = terms.Condition };
        if (terms.VersionArg > 0)
        {
            set.Operand = call.Args[terms.VersionArg].Bytes;
            set.OperandLength = call.Args[terms.VersionArg].Length;
        }

        Outcome outcome = staged is null ? call.Session.Modify(in key, ref set) : call.Session.Modify(in key, ref set, staged);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return call.From(outcome);
        if (set.WrongKind)
            return call.Fail(Common.Resp.Fault.WrongType);
        return set.Applied ? Answer(ref call, version, crc) : Unmet(ref call, terms.Condition);
    }

    // One step: what was asked about is what is changed, and what is told of.
    private static Reply Patch(ref Call call, in PutTerms terms, byte* bytes, long at, uint crc)
    {
        KeyRef key = call.Key;
        var write = new SetRangeBytes
        {
            Bytes = bytes, Length = terms.Length, Offset = at, BytesMax = call.Server.ClientLimits.Requests.BulkBytesMax,
        };
        call.Session.Lock([key]);
        var before = new VersionLook { IsWanted = terms.VersionArg > 0 };
        bool exists = call.Session.Read(in key, ref before, quiet: true) == Outcome.Done;
        bool isString = !exists || before.Kind == RecordKind.String;
        bool holds = isString && Holds(ref call, in terms, exists, before.Version);
        Outcome outcome = holds ? call.Session.Modify(in key, ref write) : Outcome.Unchanged;
        var after = new VersionLook { IsWanted = true };
        if (holds && call.Session.Read(in key, ref after, quiet: true) != Outcome.Done)
            after.Version = ValueDigest.Of(default);
        call.Session.Unlock();
        if (!isString)
            return call.Fail(Common.Resp.Fault.WrongType);
        if (!holds)
            return Unmet(ref call, terms.Condition);
        if (write.TooLong)
            return call.Fail(Common.Resp.Fault.StringTooLong);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return call.From(outcome);
        Telling.Tell(ref call, Patched);
        return Answer(ref call, after.Version, crc);
    }

    private static bool Holds(ref Call call, in PutTerms terms, bool exists, ulong version) => terms.Condition switch
    {
        SetCondition.IfAbsent => !exists,
        SetCondition.IfPresent => exists,
        SetCondition.IfDigestEqual => exists && BulkVersion.TryRead(call[terms.VersionArg], out ulong wanted) && wanted == version,
        _ => true,
    };

    private static Reply Unmet(ref Call call, SetCondition condition) =>
        condition == SetCondition.IfDigestEqual ? BulkCommands.FailVersion(ref call) : call.Null();

    private static Reply Answer(ref Call call, ulong version, uint crc)
    {
        call.Out.Map(2);
        BulkVersion.Write(ref call, version);
        call.Out.Bulk("crc"u8);
        call.Out.Int(crc);
        return Reply.Sent;
    }

    private struct VersionLook : IRead
    {
        internal bool IsWanted;
        internal RecordKind Kind;
        internal ulong Version;

        public void Look(in RecordView record)
        {
            Kind = record.Kind;
            Version = IsWanted && Kind == RecordKind.String ? ValueDigest.Of(record.ValueSpan) : 0;
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
