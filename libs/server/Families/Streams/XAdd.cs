using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

internal readonly struct XAdd : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XADD", -5, StreamCommands.WriteFast, "RW UPDATE", "key [NOMKSTREAM] [KEEPREF | DELREF | ACKED] [IDMPAUTO producer-id | IDMP producer-id idempotent-id] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]", "Adds an entry to a stream.") with { Complexity = "O(1)", Tips = "nondeterministic_output", Event = new("xadd", NotifyClasses.Stream) };

    public static unsafe Reply Run(ref Call call)
    {
        if (!TrimOptions.TryRead(ref call, 2, isAdd: true, out TrimOptions options))
            return Reply.Failed;
        int at = options.Next, fields = call.Count - at - 1;
        var add = new StreamAdd { OnlyIfThere = options.OnlyIfThere, Limits = StreamLimits.Of(call.Server.Settings.Encoding) };
        if (at < call.Count && !TryChoose(ref call, at, ref add))
            return Reply.Failed;
        if (!options.TrySettle(ref call, isAdd: true))
            return Reply.Failed;
        if (fields < 2 || fields % 2 != 0)
            return call.WrongArity();
        if (add.Choice == IdChoice.Given && add.Id.IsZero)
            return call.FailBytes("ERR The ID specified in XADD must be greater than 0-0"u8);
        add.Fields = new Operands(call.Args + at + 1, fields);
        return options.Producer > 0 ? RunProduced(ref call, add, options) : Answer(ref call, Apply(ref call, ref add, options), add);
    }

    private static Reply RunProduced(ref Call call, in StreamAdd add, in TrimOptions options)
    {
        ReadOnlySpan<byte> producer = call[options.Producer];
        if (add.Choice != IdChoice.Next)
            return call.FailBytes("ERR IDMP/IDMPAUTO can be used only with auto-generated IDs"u8);
        var produce = new StreamProduce
        {
            Entry = add, NowMs = call.NowMs, Limits = ProducerLimits.Of(call.Server.Settings.Encoding),
            Produced = options.Named ? ProducedId.Of(producer, call[options.Producer + 1]) : ProducedId.Of(producer, add.Fields),
        };
        Outcome outcome = Apply(ref call, ref produce, options);
        if (produce.Action == ProduceAction.Repeat)
            Telling.Tell(ref call, [null]);
        return Answer(ref call, outcome, produce.Entry);
    }

    private static Outcome Apply<T>(ref Call call, ref T add, in TrimOptions options) where T : struct, IEdit, IAdds
    {
        if (!options.Plan.IsSet)
            return CollectionCalls.Edit(ref call, ref add);
        call.Session.Room.Ensure(0);
        KeyRef key = call.Key;
        call.Session.Lock([key]);
        if (call.Session.Tier is not null)
        {
            var look = new TrimLook { Plan = options.Plan, Policy = options.Policy };
            call.Session.Examine(in key, ref look, quiet: true); // what cannot be read is an error before the entry is there (store.C7)
        }

        Outcome outcome = call.Session.Edit(in key, ref add);
        var trim = new StreamTrim { Plan = options.Plan, Policy = options.Policy };
        if (outcome == Outcome.Done && add.HasAdded)
            call.Session.Edit(in key, ref trim);
        call.Session.Unlock();
        if (trim.Removed > 0)
            Telling.Tell(ref call, Spec.Event, StreamEvents.Trimmed);
        return outcome;
    }

    private static Reply Answer(ref Call call, Outcome outcome, in StreamAdd add)
    {
        if (outcome == Outcome.Done)
        {
            StreamEntry.Reply(add.Id, call.Out);
            return Reply.Sent;
        }

        if (add.Missing)
            return call.Null();
        if (add.WrongKind)
            return call.Fail(Fault.WrongType);
        if (add.Exhausted)
            return call.FailBytes("ERR The stream has exhausted the last possible ID, unable to add more items"u8);
        return add.TooSmall
            ? call.FailBytes("ERR The ID specified in XADD is equal or smaller than the target stream top item"u8)
            : call.From(outcome);
    }

    private static bool TryChoose(ref Call call, int at, ref StreamAdd add)
    {
        ReadOnlySpan<byte> text = call[at];
        if (text.SequenceEqual("*"u8))
        {
            add.Choice = IdChoice.Next;
            add.Id = new StreamId((ulong)call.NowMs, 0);
            return true;
        }

        if (!text.EndsWith("-*"u8))
            return StreamCommands.TryId(ref call, at, 0, out add.Id);
        add.Choice = IdChoice.NextInMs;
        if (!StreamId.TryNumber(text[..^2], out ulong ms))
            return StreamCommands.FailId(ref call);
        add.Id = new StreamId(ms, 0);
        return true;
    }
}

/// <summary>Says for how long and how many names of producers a stream remembers.</summary>
internal readonly struct XCfgSet : ICommand
{
    public static CommandSpec Spec => StreamCommands.Spec("XCFGSET", -2, CommandFlags.Write | CommandFlags.Fast, "RW UPDATE", "key [IDMP-DURATION seconds] [IDMP-MAXSIZE count]", "Sets how long a stream remembers what producers have sent, and how much of it.") with { Complexity = "O(1)", Since = "8.6.0", Event = new("xcfgset", NotifyClasses.Stream) };

    public static Reply Run(ref Call call)
    {
        int seconds = 0, names = 0;
        for (int i = 2; i < call.Count; i += 2)
        {
            if (i + 1 < call.Count && call.Is(i, "IDMP-DURATION"u8))
            {
                if (!TryNumber(ref call, i + 1, ProducerLimits.SecondsMax, out seconds))
                    return call.FailBytes("ERR IDMP-DURATION must be between 1 and 86400 seconds"u8);
            }
            else if (i + 1 < call.Count && call.Is(i, "IDMP-MAXSIZE"u8))
            {
                if (!TryNumber(ref call, i + 1, ProducerLimits.NamesMax, out names))
                    return call.FailBytes("ERR IDMP-MAXSIZE must be between 1 and 10000 entries"u8);
            }
            else
            {
                return call.Fail(Fault.Syntax);
            }
        }

        if (seconds + names == 0)
            return call.Fail(Fault.Syntax);
        var set = new StreamProduce
        {
            Action = ProduceAction.SetLimits,
            Limits = ProducerLimits.Of(call.Server.Settings.Encoding),
            Wanted = new ProducerLimits(seconds, names),
        };
        Outcome outcome = CollectionCalls.Edit(ref call, ref set);
        if (set.Entry.Missing || set.Entry.WrongKind)
            return call.Fail(set.Entry.Missing ? Fault.NoSuchKey : Fault.WrongType);
        return outcome is Outcome.OutOfMemory or Outcome.TooLarge ? call.From(outcome) : call.Ok();
    }

    private static bool TryNumber(ref Call call, int index, int most, out int value)
    {
        bool isGood = call.TryInt64(index, out long number) && number >= 1 && number <= most;
        value = isGood ? (int)number : 0;
        return isGood;
    }
}
