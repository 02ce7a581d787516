using Garnet.Aof.Format;
using Garnet.Bulk;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.OPEN: a value of so many bytes is to come in parts, of which nobody sees anything before BULK.COMMIT.</summary>
internal readonly struct BulkOpen : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.OPEN", -3, CommandFlags.Write | CommandFlags.DenyOom, "key length [PX]",
        "Begins a value that comes in parts; returns its token.") with { Keys = KeySpec.One with { Usage = BulkPut.Writes } };

    public static Reply Run(ref Call call)
    {
        BulkWait wait = BulkWait.Of(ref call);
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed))
            return wait.Drop(failed);
        if (!BulkCommands.TryNumber(ref call, 2, out ulong length))
            return wait.Drop(call.Fail(Fault.ValueOutOfRange));
        if (length > (ulong)call.Server.ClientLimits.Requests.BulkBytesMax || length > Store.ValueBytesMax)
            return wait.Drop(call.Fail(Fault.StringTooLong));
        if (call[1].Length > Store.KeyBytesMax)
            return wait.Drop(call.Fail(Fault.KeyTooLong));
        // PX is what clients say of a value that is to expire: there is a place for a time in any case.
        if (call.Count > 3 && !(call.Count == 4 && call.Is(3, "PX"u8)))
            return wait.Drop(call.Fail(Fault.Syntax));
        if (!wait.TryTake(ref call, session, (int)length, BulkPut.InRecord, out StagedBytes staged, out failed))
            return failed;
        BulkUpload upload = session.OpenUpload(call[1].ToArray(), call.Client.Database, staged);
        UploadClock.Renew(ref call, session, upload);
        return wait.Drop(call.Int((long)upload.Token));
    }
}

/// <summary>BULK.WRITE: a part of a value that comes in parts.</summary>
internal readonly unsafe struct BulkWrite : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.WRITE", -5, CommandFlags.None,
        "token at <region offset length | INLINE part>", "Puts a part of a value that comes in parts to its place.") with
        {
            Complexity = "O(N)",
        };

    public static Reply Run(ref Call call)
    {
        var begun = call.Client.Begun as BulkWait;
        BulkWait wait = BulkWait.Of(ref call);
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed)
            || !UploadClock.TryUpload(ref call, session, 1, out BulkUpload upload, out failed))
            return wait.Drop(failed);
        if (begun is not null)
            return Finish(ref call, session, upload, begun);
        bool isInline = call.Is(3, "INLINE"u8);
        ulong offset = 0, length = isInline ? (ulong)call[4].Length : 0;
        if (call.Count != (isInline ? 5 : 6))
            return call.WrongArity();
        if (!BulkCommands.TryNumber(ref call, 2, out ulong at) || (!isInline
            && !(BulkCommands.TryNumber(ref call, 4, out offset) && BulkCommands.TryNumber(ref call, 5, out length))))
            return call.Fail(Fault.ValueOutOfRange);
        ulong whole = (ulong)upload.Staged.Length;
        if (at > whole || length > whole - at)
            return call.FailBytes("BULKRANGE the part is not all in the value"u8);
        if (isInline)
        {
            call[4].CopyTo(upload.Staged.GetSpan()[(int)at..]);
            return Answer(ref call, session, upload, ((int)at, (int)length, Crc32C.Of(call[4])));
        }

        if (!BulkCommands.TryRange(ref call, session, (3, offset, length), BulkAccess.Read, out RemoteRange from, out failed))
            return failed;
        upload.Staged.Hold();
        upload.Written.Remove((int)at, (int)(at + length));
        var transfer = new BulkTransfer(session, upload.Staged, (int)at, (int)length);
        Reply reply = wait.PutOffFor(ref call, transfer);
        transfer.BeginRead([from], wait.Wake);
        return reply;
    }

    private static Reply Finish(ref Call call, BulkSession session, BulkUpload upload, BulkWait wait)
    {
        if (!wait.TryFinish(ref call, out Reply reply))
            return reply;
        BulkTransfer transfer = wait.Transfer!;
        return wait.Drop(Answer(ref call, session, upload, (transfer.Start, transfer.Length, transfer.Crc)));
    }

    private static Reply Answer(ref Call call, BulkSession session, BulkUpload upload, (int Start, int Length, uint Crc) part)
    {
        if (!upload.Written.TryAdd(part.Start, part.Start + part.Length))
            return call.FailBytes("BULKBUSY there are too many gaps between the parts: fill some first"u8);
        UploadClock.Renew(ref call, session, upload);
        return call.Int(part.Crc);
    }
}

/// <summary>
/// BULK.COMMIT: a value of which all parts are there takes effect. It names the key again, so that rights to it are asked about when it
/// does.
/// </summary>
internal readonly unsafe struct BulkCommit : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.COMMIT", -3, CommandFlags.Write | CommandFlags.DenyOom,
        "key token [NX | XX | IFVER version] [PX milliseconds] [CRC crc32c]", "Sets a string to the bytes that came in parts.") with
        {
            Keys = KeySpec.One with
            {
                Usage = BulkPut.ReadsToo, UsageOf = static (ref Call call, int name) => BulkPut.UsageBehind(ref call, name + 3),
            },
            Complexity = "O(N)",
            Event = KeyEvent.Set with { ExpiryAt = 3 },
        };

    public static Reply Run(ref Call call)
    {
        BulkWait wait = BulkWait.Of(ref call);
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed)
            || !UploadClock.TryUpload(ref call, session, 2, out BulkUpload upload, out failed)
            || !PutTerms.TryParseOptions(ref call, 3, out PutTerms terms, out failed))
            return wait.Drop(failed);
        if (!call[1].SequenceEqual(upload.Key) || call.Client.Database != upload.Database)
            return wait.Drop(call.FailBytes("ERR the token is another key's"u8));
        if (!upload.Written.IsWhole)
            return wait.Drop(call.FailBytes("BULKRANGE parts of the value have not come"u8));
        if (wait.Transfer is null)
            return Begin(ref call, session, upload, wait);
        if (!wait.TryFinish(ref call, out Reply reply))
            return reply;
        terms.Length = upload.Staged.Length;
        // Put off once more, for the tier or for memory, it finds all as it is; so does the client, if that ends in an exception.
        try
        {
            reply = BulkChange.Make(ref call, in terms, upload.Staged, wait.Transfer!.Version, wait.Transfer.Crc);
        }
        catch (Exception e) when (e is TooLargeException or GarnetException)
        {
            wait.Drop(Reply.Failed);
            throw;
        }

        bool mayComeAgain = reply == Reply.Failed && upload.Staged.Value is not { IsTaken: true }; // a wrong CRC, no memory now
        if (!mayComeAgain)
            session.EndUpload(upload);
        return wait.Drop(reply);
    }

    // Its version and checksum are of all bytes, which takes a while: not on the reactor.
    private static Reply Begin(ref Call call, BulkSession session, BulkUpload upload, BulkWait wait)
    {
        upload.Staged.Hold();
        var look = new BulkTransfer(session, upload.Staged, 0, upload.Staged.Length);
        Reply reply = wait.PutOffFor(ref call, look);
        look.BeginLook(wait.Wake);
        return reply;
    }
}

/// <summary>BULK.ABORT: a value that comes in parts is given up.</summary>
internal readonly struct BulkAbort : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.ABORT", 2, CommandFlags.Quick, "token",
        "Gives up a value that comes in parts.");

    public static Reply Run(ref Call call)
    {
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed)
            || !UploadClock.TryUpload(ref call, session, 1, out BulkUpload upload, out failed))
            return failed;
        session.EndUpload(upload);
        return call.Ok();
    }
}
