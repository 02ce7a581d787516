using Garnet.Bulk;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.GETV: ranges of a value, all as they were at one moment, to several places of the client's memory.</summary>
internal readonly unsafe struct BulkGetParts : ICommand
{
    private const int FirstPart = 3, ArgumentsOfPart = 4;

    public static CommandSpec Spec => BulkCommands.Spec("BULK.GETV", -7, CommandFlags.ReadOnly,
        "key parts from length region offset [from length region offset ...] [IFVER version]",
        "Writes ranges of a string to several places of the client's memory.") with
        {
            Keys = KeySpec.One with { Usage = "RO ACCESS" }, Complexity = "O(N)",
        };

    public static Reply Run(ref Call call)
    {
        var begun = call.Client.Begun as BulkWait;
        return begun?.Transfer is null ? Begin(ref call) : Finish(ref call, begun);
    }

    private static Reply Begin(ref Call call)
    {
        BulkWait wait = BulkWait.Of(ref call);
        if (!BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed)
            || !TryTerms(ref call, session, out (long From, int Length)[] parts, out RemoteRange[] to, out ulong? wanted, out failed))
            return wait.Drop(failed);
        long room = parts.Sum(static part => (long)part.Length);
        if (room > Store.ValueBytesMax)
            return wait.Drop(call.Fail(Fault.StringTooLong));
        if (!wait.TryTake(ref call, session, (int)room, BulkGet.Apart, out StagedBytes staged, out failed))
            return failed;
        var look = new PartsLook { Parts = parts, To = staged.Bytes, Counts = new int[parts.Length] };
        if (!TryCopy(ref call, ref look, wanted, staged, out failed))
            return wait.Drop(failed);
        (wait.Total, wait.Version, wait.LastSeen, wait.Counts) = (look.Total, look.Version, call.Session.LastSeen, look.Counts);
        int[] counts = look.Counts;
        var transfer = new BulkTransfer(session, staged, 0, counts.Sum());
        Reply reply = wait.PutOffFor(ref call, transfer);
        IEnumerable<RemoteRange> filled = to.Select((place, i) => place with { Length = (ulong)counts[i] });
        transfer.BeginWrite([.. filled.Where(static place => place.Length > 0)], null, wait.Wake);
        return reply;
    }

    // The memory is free again unless it is filled, whatever comes of the look: it may be put off, for the tier.
    private static bool TryCopy(ref Call call, ref PartsLook look, ulong? wanted, StagedBytes staged, out Reply failed)
    {
        KeyRef key = call.Key;
        bool isKept = false;
        try
        {
            bool exists = call.Session.Read(in key, ref look) == Outcome.Done;
            isKept = exists && look.Kind == RecordKind.String && (wanted is not { } version || version == look.Version);
            failed = isKept ? Reply.Sent : !exists ? call.Null()
                : look.Kind != RecordKind.String ? call.Fail(Fault.WrongType) : BulkCommands.FailVersion(ref call);
            return isKept;
        }
        finally
        {
            if (!isKept)
                staged.Release();
        }
    }

    private static Reply Finish(ref Call call, BulkWait wait)
    {
        if (!wait.TryFinish(ref call, out Reply reply))
            return reply;
        call.Session.LastSeen = Math.Max(call.Session.LastSeen, wait.LastSeen);
        call.Out.Map(4);
        call.Out.Bulk("lens"u8);
        call.Out.Array(wait.Counts.Length);
        foreach (int count in wait.Counts)
            call.Out.Int(count);
        call.Out.Bulk("total"u8);
        call.Out.Int(wait.Total);
        BulkVersion.Write(ref call, wait.Version ?? 0);
        call.Out.Bulk("crc"u8);
        call.Out.Int(wait.Transfer!.Crc);
        return wait.Drop(Reply.Sent);
    }

    private static bool TryTerms(
        ref Call call, BulkSession session, out (long From, int Length)[] parts, out RemoteRange[] to, out ulong? wanted, out Reply failed)
    {
        bool fits = BulkCommands.TryNumber(ref call, 2, out ulong count) && count is > 0 and <= BulkCommands.PartsMax;
        int end = FirstPart + (ArgumentsOfPart * (int)(fits ? count : 0));
        (parts, to, wanted) = (new (long, int)[fits ? count : 0], new RemoteRange[fits ? count : 0], null);
        failed = !fits ? BulkCommands.FailParts(ref call)
            : call.Count < end ? call.WrongArity() : Reply.Sent;
        for (int i = 0; i < parts.Length && failed == Reply.Sent; i++)
        {
            int at = FirstPart + (ArgumentsOfPart * i);
            if (!BulkCommands.TryNumber(ref call, at, out ulong from) || !BulkCommands.TryNumber(ref call, at + 1, out ulong length)
                || !BulkCommands.TryNumber(ref call, at + 3, out ulong offset) || from > long.MaxValue || length > Store.ValueBytesMax)
                failed = call.Fail(Fault.ValueOutOfRange);
            else if (BulkCommands.TryRange(ref call, session, (at + 2, offset, length), BulkAccess.Write, out to[i], out failed))
                parts[i] = ((long)from, (int)length);
        }

        if (failed == Reply.Sent && call.Count > end)
            failed = ReadVersion(ref call, end, out wanted);
        return failed == Reply.Sent;
    }

    private static Reply ReadVersion(ref Call call, int at, out ulong? wanted)
    {
        wanted = null;
        if (call.Count != at + 2 || !call.Is(at, "IFVER"u8))
            return call.Fail(Fault.Syntax);
        bool isVersion = BulkVersion.TryRead(call[at + 1], out ulong version);
        wanted = version;
        return isVersion ? Reply.Sent : BulkCommands.FailVersion(ref call);
    }

    // There is room for all that was asked for, so that one look is enough.
    private struct PartsLook : IRead
    {
        internal (long From, int Length)[] Parts;
        internal int[] Counts;
        internal byte* To;
        internal RecordKind Kind;
        internal int Total;
        internal ulong Version;

        public void Look(in RecordView record)
        {
            Kind = record.Kind;
            Total = record.ValueBytes;
            if (Kind != RecordKind.String)
                return;
            byte* to = To;
            for (int i = 0; i < Parts.Length; i++)
            {
                long from = Math.Min(Parts[i].From, Total);
                Counts[i] = (int)Math.Min(Parts[i].Length, Total - from);
                Buffer.MemoryCopy(record.Value + from, to, Parts[i].Length, Counts[i]);
                to += Counts[i];
            }

            Version = ValueDigest.Of(record.ValueSpan);
        }
    }
}
