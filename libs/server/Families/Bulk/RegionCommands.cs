using Garnet.Bulk;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Telemetry;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.REG: names memory of the client.</summary>
internal readonly struct BulkRegister : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.REG", -5, CommandFlags.Quick,
        "region base length key [MEM host] [R | W | RW]", "Names memory of the client, for the server to read, write or both.");

    public static Reply Run(ref Call call)
    {
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed))
            return failed;
        if (!session.Reaches)
            return call.FailBytes("BULKNOREG provider inline carries values in commands: it has no regions"u8);
        if (!TryId(ref call, 1, out uint id) || !BulkCommands.TryNumber(ref call, 2, out ulong place)
            || !BulkCommands.TryNumber(ref call, 3, out ulong length) || !BulkCommands.TryNumber(ref call, 4, out ulong key))
            return call.Fail(Fault.ValueOutOfRange);
        if (length == 0 || length > long.MaxValue || place > ulong.MaxValue - length)
            return call.FailBytes("BULKRANGE a region begins and ends within memory"u8);
        if (!TryAccess(ref call, out BulkAccess access))
            return call.Fail(Fault.Syntax);
        if (session.RegionCount >= call.Server.Settings.Bulk.RegionsMax)
            return call.FailBytes("BULKBUSY there are as many regions as bulk-session-regions allows"u8);
        return session.TryRegister(id, new ClientRegion(new RemoteRegion(place, length, key), access)) ? call.Ok()
            : call.FailBytes("ERR the region is registered: BULK.UNREG first"u8);
    }

    internal static bool TryId(ref Call call, int index, out uint id)
    {
        bool fits = BulkCommands.TryNumber(ref call, index, out ulong number) && number <= uint.MaxValue;
        id = (uint)number;
        return fits;
    }

    private static bool TryAccess(ref Call call, out BulkAccess access)
    {
        access = BulkAccess.Read | BulkAccess.Write;
        int at = 5;
        if (call.Count > at + 1 && call.Is(at, "MEM"u8) && call.Is(at + 1, "HOST"u8))
            at += 2;
        if (at == call.Count)
            return true;
        access = call.Is(at, "R"u8) ? BulkAccess.Read : call.Is(at, "W"u8) ? BulkAccess.Write
            : call.Is(at, "RW"u8) ? access : BulkAccess.None;
        return access != BulkAccess.None && at + 1 == call.Count;
    }
}

/// <summary>BULK.UNREG: a region is named no longer.</summary>
internal readonly struct BulkUnregister : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.UNREG", 2, CommandFlags.Quick, "region",
        "Forgets a region; the server is at none of its memory any more.");

    public static Reply Run(ref Call call)
    {
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed))
            return failed;
        return BulkRegister.TryId(ref call, 1, out uint id) && session.Unregister(id) ? call.Ok() : FailUnknown(ref call, 1);
    }

    internal static Reply FailUnknown(ref Call call, int index) =>
        call.FailBytes([.. "BULKNOREG there is no region "u8, .. Shown(ref call, index), .. " in this session"u8]);

    private static ReadOnlySpan<byte> Shown(ref Call call, int index)
    {
        const int BytesMax = 20;
        ReadOnlySpan<byte> text = call.Shown(index);
        return text.IndexOfAnyExceptInRange((byte)'!', (byte)'~') >= 0 || text.Length > BytesMax ? "of that name"u8 : text;
    }
}

/// <summary>BULK.BYE: ends the session; when it answers, the server is at none of the client's memory any more.</summary>
internal readonly struct BulkBye : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.BYE", 1, CommandFlags.None, "", "Ends the session.");

    public static Reply Run(ref Call call)
    {
        if (call.Client.Bulk is not { } session)
            return call.FailBytes(BulkCommands.NoSession);
        call.Client.Bulk = null;
        session.EndUploads(long.MaxValue);
        Task<bool> closed = session.Close("the client has said goodbye");
        if (!session.Reaches)
            return call.Ok();
        var wait = new Farewell(closed);
        Worker worker = call.Worker;
        Connection client = call.Client;
        worker.Park(client, wait);
        closed.ContinueWith(_ => worker.Post(static (owner, waiting, _) => owner.TryResume(waiting!), client), TaskScheduler.Default);
        return Reply.Parked;
    }

    private sealed class Farewell(Task<bool> closed) : Parking
    {
        internal override bool Resume(Worker worker, Connection client)
        {
            if (!closed.IsCompleted)
                return false;
            if (closed.Result)
                worker.Out.Ok();
            else
                worker.Out.Error("BULKBUSY the session has ended, but something still holds memory of a transfer: keep the regions"u8);
            return true;
        }
    }
}

/// <summary>BULK.INFO: what sessions there are and what has been moved.</summary>
internal readonly struct BulkInfo : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.INFO", 1, CommandFlags.Quick | CommandFlags.Loading | CommandFlags.Stale, "",
        "Returns figures of values that go beside connections, and what can carry them.");

    public static Reply Run(ref Call call)
    {
        BulkSessions bulk = call.Server.Bulk;
        var moment = new Moment(call.Server);
        (string Name, long Value)[] numbers =
        [
            .. BulkSessionFigures.All.Select(figure => (figure.Field, figure.Read(moment))),
            ("regions", call.Client.Bulk?.RegionCount ?? 0), ("uploads", call.Client.Bulk?.UploadCount ?? 0),
        ];
        call.Out.Map(numbers.Length + 2);
        call.Out.Bulk("provider"u8);
        call.Out.Bulk(call.Client.Bulk is { IsClosed: false } session ? session.Carrier : "none");
        call.Out.Bulk("providers"u8);
        call.Out.Array(bulk.Known.Length + 1);
        foreach (string carrier in bulk.Known)
        {
            string why = bulk.WhyNot(carrier, call.Client.Peer.IsLoopback);
            call.Out.Bulk(why.Length == 0 ? carrier : $"{carrier} ({why.ReplaceLineEndings(" ")})");
        }

        call.Out.Bulk(BulkSession.Inline);
        foreach ((string name, long value) in numbers)
        {
            call.Out.Bulk(name);
            call.Out.Int(value);
        }

        return Reply.Sent;
    }
}
