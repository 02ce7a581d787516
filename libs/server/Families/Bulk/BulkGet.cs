using Garnet.Aof.Format;
using Garnet.Bulk;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.GET: a value, or a part of it, into the client's memory.</summary>
internal readonly unsafe struct BulkGet : ICommand
{
    private const int HeadBytes = 192; // of an inline reply: what stands before the value

    public static CommandSpec Spec => BulkCommands.Spec("BULK.GET", -4, CommandFlags.ReadOnly,
        "key <region offset capacity | INLINE capacity> [FROM offset] [LEN length] [IFVER version]",
        "Writes a string, or a part of one, to the client's memory.") with
        {
            Keys = KeySpec.One with { Usage = "RO ACCESS" }, Complexity = "O(N)",
        };

    public static Reply Run(ref Call call)
    {
        var begun = call.Client.Begun as BulkWait;
        if (!GetTerms.TryParse(ref call, out GetTerms terms, out Reply failed))
            return begun?.Drop(failed) ?? failed;
        if (terms.IsInline)
            return RunInline(ref call, in terms);
        return begun?.Transfer is null ? Begin(ref call, in terms) : Finish(ref call, begun);
    }

    private static Reply Begin(ref Call call, in GetTerms terms)
    {
        BulkWait wait = BulkWait.Of(ref call);
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed))
            return wait.Drop(failed);
        (int, ulong, ulong) place = (2, terms.Offset, (ulong)terms.Capacity);
        if (!BulkCommands.TryRange(ref call, session, place, BulkAccess.Write, out RemoteRange room, out failed))
            return wait.Drop(failed);
        var look = new PartLook(in terms);
        if (!TryLook(ref call, ref look, call.Client.Begun is not null, out failed))
            return wait.Drop(failed);
        KeyRef key = call.Key;
        if (PinnedValue.TryTake(call.Session, in key, out PinnedValue value))
            return BeginInPlace(ref call, wait, session, value, in terms, room);
        // bulk.C2: what is copied is the value at one moment; if it has grown since it was measured, it is measured anew.
        while (wait.TryTake(ref call, session, look.Count, Apart, out StagedBytes staged, out failed))
        {
            look.CopyTo(staged.Bytes, staged.Length);
            if (!TryCopy(ref call, ref look, in terms, staged, out failed))
                return wait.Drop(failed);
            if (look.IsCopied)
                return Send(ref call, wait, session, staged, (look.Total, look.Version, terms.Version), room);
        }

        return failed;
    }

    // bulk.C2: a long value is sent from where it lies, as it is at this moment.
    private static Reply BeginInPlace(
        ref Call call, BulkWait wait, BulkSession session, PinnedValue value, in GetTerms terms, RemoteRange room)
    {
        long from = Math.Min(terms.From, value.Length);
        int count = (int)Math.Min(terms.Length ?? terms.Capacity, value.Length - from);
        if (!wait.TryShare(ref call, session, count, out Reply failed))
        {
            value.Release();
            return failed;
        }

        var staged = new StagedBytes(session, value, (int)from, count);
        ulong? version = count == value.Length ? null : ValueDigest.Of(new ReadOnlySpan<byte>(value.Bytes, value.Length));
        if (version is null || terms.Version is null || version == terms.Version)
            return Send(ref call, wait, session, staged, (value.Length, version, terms.Version), room);
        staged.Release();
        return wait.Drop(BulkCommands.FailVersion(ref call));
    }

    // The version of the whole is known where a part of it is sent; else the transfer finds it.
    private static Reply Send(
        ref Call call, BulkWait wait, BulkSession session, StagedBytes staged, (long Total, ulong? Version, ulong? Wanted) whole,
        RemoteRange room)
    {
        (wait.Total, wait.Version, wait.LastSeen) = (whole.Total, whole.Version, call.Session.LastSeen);
        var transfer = new BulkTransfer(session, staged, 0, staged.Length);
        Reply reply = wait.PutOffFor(ref call, transfer);
        transfer.BeginWrite([room with { Length = (ulong)staged.Length }], whole.Version is null ? whole.Wanted : null, wait.Wake);
        return reply;
    }

    // The memory is free again unless the part was copied there, whatever comes of the look: it may be put off, for the tier.
    private static bool TryCopy(ref Call call, ref PartLook look, in GetTerms terms, StagedBytes staged, out Reply failed)
    {
        bool isKept = false;
        try
        {
            if (!TryLook(ref call, ref look, isAgain: true, out failed))
                return false;
            bool isOther = look.IsCopied && look.Version is { } version && terms.Version is { } wanted && version != wanted;
            if (isOther)
                failed = BulkCommands.FailVersion(ref call);
            isKept = look.IsCopied && !isOther;
            return !isOther;
        }
        finally
        {
            if (!isKept)
                staged.Release();
        }
    }

    // Like the bytes of a reply it counts in the budget, and not as memory of the store: who reads evicts nobody.
    internal static StagedBytes? Apart(ref Call call, BulkSession session, int bytes) =>
        StagedBytes.TryOwn(session, countedBy: null, bytes);

    private static Reply Finish(ref Call call, BulkWait wait)
    {
        if (!wait.TryFinish(ref call, out Reply reply))
            return reply;
        BulkTransfer transfer = wait.Transfer!;
        call.Session.LastSeen = Math.Max(call.Session.LastSeen, wait.LastSeen);
        Answer(ref call, 4, transfer.Staged.Length, wait.Total, wait.Version ?? transfer.Version, transfer.Crc);
        return wait.Drop(Reply.Sent);
    }

    // The value is copied behind a gap, as what stands before it in the reply is known only then.
    private static Reply RunInline(ref Call call, in GetTerms terms)
    {
        KeyRef key = call.Key;
        return WriteInline(ref call, in key, in terms, isAgain: false) switch
        {
            InlineResult.Written => Reply.Sent,
            InlineResult.Missing => call.Null(),
            InlineResult.OtherKind => call.Fail(Fault.WrongType),
            _ => BulkCommands.FailVersion(ref call),
        };
    }

    /// <summary>Writes the value with what is said of it, unless there is none.</summary>
    internal static InlineResult WriteInline(ref Call call, in KeyRef key, in GetTerms terms, bool isAgain)
    {
        var look = new PartLook(in terms);
        for (; ; isAgain = true)
        {
            long room = call.Out.Limit - call.Out.Position - HeadBytes;
            if (room > 0)
                look.CopyTo(call.Out.Position + HeadBytes, room);
            if (call.Session.Read(in key, ref look, isAgain) != Outcome.Done)
                return InlineResult.Missing;
            if (look.Kind != RecordKind.String)
                return InlineResult.OtherKind;
            if (look.IsCopied)
                break;
            call.Out.Room(look.Count + HeadBytes + RespWriter.Slack);
        }

        byte* value = call.Out.Position + HeadBytes;
        var bytes = new ReadOnlySpan<byte>(value, look.Count);
        ulong version = look.Version ?? ValueDigest.Of(bytes);
        if (terms.Version is { } wanted && wanted != version)
            return InlineResult.OtherVersion;
        Answer(ref call, 5, look.Count, look.Total, version, Crc32C.Of(bytes));
        call.Out.Bulk("value"u8);
        byte* at = RespWriter.BulkHeader(call.Out.Position, look.Count);
        Buffer.MemoryCopy(value, at, look.Count, look.Count);
        call.Out.Position = RespWriter.EndLine(at + look.Count);
        return InlineResult.Written;
    }

    private static bool TryLook(ref Call call, ref PartLook look, bool isAgain, out Reply failed)
    {
        KeyRef key = call.Key;
        bool exists = call.Session.Read(in key, ref look, isAgain) == Outcome.Done;
        failed = !exists ? call.Null() : look.Kind != RecordKind.String ? call.Fail(Fault.WrongType) : Reply.Sent;
        return exists && look.Kind == RecordKind.String;
    }

    internal static void Answer(ref Call call, int fields, long length, long total, ulong version, uint crc)
    {
        call.Out.Map(fields);
        call.Out.Bulk("len"u8);
        call.Out.Int(length);
        call.Out.Bulk("total"u8);
        call.Out.Int(total);
        BulkVersion.Write(ref call, version);
        call.Out.Bulk("crc"u8);
        call.Out.Int(crc);
    }
}
