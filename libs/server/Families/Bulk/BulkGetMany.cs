using Garnet.Bulk;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.MGET: several values into the client's memory in one transfer, all as they were at one moment.</summary>
internal readonly unsafe struct BulkGetMany : ICommand
{
    public static CommandSpec Spec => BulkCommands.Spec("BULK.MGET", -6, CommandFlags.ReadOnly | CommandFlags.MovableKeys,
        "numkeys key <region offset | INLINE 0> capacity [key <region offset | INLINE 0> capacity ...]",
        "Writes strings to the client's memory, all as they were at one moment.") with
        {
            Keys = KeyPlaces.Spec("RO ACCESS"), Complexity = "O(N)",
        };

    public static Reply Run(ref Call call)
    {
        var begun = call.Client.Begun as BulkWait;
        if (begun?.Transfer is not null)
            return Finish(ref call, begun);
        if (!KeyPlaces.TryCount(ref call, out int count, out bool isInline, out Reply failed))
            return begun?.Drop(failed) ?? failed;
        if (call.Count > KeyPlaces.End(count))
            return begun?.Drop(call.Fail(Fault.Syntax)) ?? call.Fail(Fault.Syntax);
        KeyRef[] keys = ManyCommands.Rent(ref call, KeyPlaces.First, KeyPlaces.Step, count);
        try
        {
            return isInline ? RunInline(ref call, keys.AsSpan(0, count)) : Begin(ref call, keys.AsSpan(0, count));
        }
        finally
        {
            ManyCommands.Return(keys);
        }
    }

    private static Reply RunInline(ref Call call, ReadOnlySpan<KeyRef> keys)
    {
        Span<ulong> capacities = stackalloc ulong[BulkCommands.PartsMax];
        for (int i = 0; i < keys.Length; i++)
        {
            if (!BulkCommands.TryNumber(ref call, KeyPlaces.First + (KeyPlaces.Step * i) + 3, out capacities[i]))
                return call.Fail(Fault.ValueOutOfRange);
        }

        long start = call.Out.Mark;
        for (var read = new SnapshotRead(call.Session, keys); read.Next();)
        {
            call.Out.TakeBackTo(start);
            call.Out.Array(keys.Length);
            for (int i = 0; i < keys.Length; i++)
            {
                GetTerms terms = TermsOf(capacities[i]);
                if (BulkGet.WriteInline(ref call, in keys[i], in terms, read.IsAgain) != InlineResult.Written)
                    call.Out.Null();
            }
        }

        return Reply.Sent;
    }

    private static GetTerms TermsOf(ulong capacity) => new() { Capacity = (int)Math.Min(capacity, Store.ValueBytesMax) };

    private static Reply Begin(ref Call call, ReadOnlySpan<KeyRef> keys)
    {
        BulkWait wait = BulkWait.Of(ref call);
        return BulkCommands.TrySession(ref call, out BulkSession session, out Reply failed)
            && KeyPlaces.TryParse(ref call, session, BulkAccess.Write, keys.Length, out RemoteRange[] to, out failed)
            ? Begin(ref call, wait, session, keys, to) : wait.Drop(failed);
    }

    // bulk.C2: what has grown since it was measured is measured anew.
    private static Reply Begin(ref Call call, BulkWait wait, BulkSession session, ReadOnlySpan<KeyRef> keys, RemoteRange[] to)
    {
        var found = new FoundValue?[keys.Length];
        bool isAgain = call.Client.Begun is not null;
        TryLook(ref call, keys, to, null, found, isAgain);
        while (true)
        {
            long room = SumOf(found);
            if (room > Store.ValueBytesMax)
                return wait.Drop(call.Fail(Fault.StringTooLong));
            if (!wait.TryTake(ref call, session, (int)room, BulkGet.Apart, out StagedBytes staged, out Reply failed))
                return failed;
            if (TryFill(ref call, keys, to, staged, found))
                return Send(ref call, wait, session, staged, found, to);
        }
    }

    // The memory is free again unless it is filled, whatever comes of the look: it may be put off, for the tier.
    private static bool TryFill(ref Call call, ReadOnlySpan<KeyRef> keys, RemoteRange[] to, StagedBytes staged, FoundValue?[] found)
    {
        bool isKept = false;
        try
        {
            return isKept = TryLook(ref call, keys, to, staged, found, isAgain: true);
        }
        finally
        {
            if (!isKept)
                staged.Release();
        }
    }

    // True if all that was found was copied, one behind the other.
    private static bool TryLook(
        ref Call call, ReadOnlySpan<KeyRef> keys, RemoteRange[] to, StagedBytes? staged, FoundValue?[] found, bool isAgain)
    {
        bool isCopied = true;
        for (var read = new SnapshotRead(call.Session, keys); read.Next();)
        {
            isCopied = true;
            long sum = 0;
            for (int i = 0; i < keys.Length; i++)
            {
                GetTerms terms = TermsOf(to[i].Length);
                var look = new PartLook(in terms);
                if (staged is not null && sum <= staged.Length)
                    look.CopyTo(staged.Bytes + sum, staged.Length - sum);
                bool isThere = call.Session.Read(in keys[i], ref look, isAgain || read.IsAgain) == Outcome.Done
                    && look.Kind == RecordKind.String;
                found[i] = isThere ? new FoundValue(look.Count, look.Total, look.Version) : null;
                isCopied &= !isThere || look.IsCopied;
                sum += isThere ? look.Count : 0;
            }
        }

        return isCopied;
    }

    private static Reply Send(
        ref Call call, BulkWait wait, BulkSession session, StagedBytes staged, FoundValue?[] found, RemoteRange[] to)
    {
        (wait.Found, wait.LastSeen) = (found, call.Session.LastSeen);
        int[] parts = [.. found.OfType<FoundValue>().Select(static value => value.Count)];
        RemoteRange[] filled = [.. to.Where((_, i) => found[i] is not null).Select((place, i) => place with { Length = (ulong)parts[i] })
            .Where(static place => place.Length > 0)];
        var transfer = new BulkTransfer(session, staged, 0, (int)SumOf(found)) { Parts = parts };
        Reply reply = wait.PutOffFor(ref call, transfer);
        transfer.BeginWrite(filled, null, wait.Wake);
        return reply;
    }

    private static long SumOf(FoundValue?[] found) => found.Sum(static value => (long)(value?.Count ?? 0));

    private static Reply Finish(ref Call call, BulkWait wait)
    {
        if (!wait.TryFinish(ref call, out Reply reply))
            return reply;
        call.Session.LastSeen = Math.Max(call.Session.LastSeen, wait.LastSeen);
        call.Out.Array(wait.Found.Length);
        int part = 0;
        foreach (FoundValue? one in wait.Found)
        {
            if (one is not { } value)
            {
                call.Out.Null();
                continue;
            }

            (ulong version, uint crc) = wait.Transfer!.OfParts[part++];
            BulkGet.Answer(ref call, 4, value.Count, value.Total, value.Version ?? version, crc);
        }

        return wait.Drop(Reply.Sent);
    }
}
