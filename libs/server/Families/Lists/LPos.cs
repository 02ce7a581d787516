using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Server.Families.Lists;

/// <summary>LPOS: at which places of a list elements equal to a value stand.</summary>
internal readonly struct LPos : ICommand
{
    public static CommandSpec Spec => ListCommands.Spec("LPOS", -3, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key element [RANK rank] [COUNT num-matches] [MAXLEN len]", "Returns the indexes of elements equal to a value.") with { Since = "6.0.6" };

    public static unsafe Reply Run(ref Call call)
    {
        var look = new PositionLook { To = call.Out, Value = call.Args[2].Bytes, ValueBytes = call.Args[2].Length, Rank = 1, Count = -1 };
        for (int i = 3; i < call.Count; i += 2)
        {
            bool last = i + 1 == call.Count;
            if (!last && call.Is(i, "RANK"u8))
            {
                if (!call.TryInt64(i + 1, out look.Rank))
                    return call.Fail(Fault.NotAnInteger);
                if (look.Rank == long.MinValue)
                    return call.Fail(Fault.NotNegatable);
                if (look.Rank == 0)
                    return call.FailBytes("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use "u8 +
                        "negative to start from the end of the list"u8);
            }
            else if (!last && call.Is(i, "COUNT"u8))
            {
                if (!call.TryInt64(i + 1, out look.Count) || look.Count < 0)
                    return call.FailBytes("ERR COUNT can't be negative"u8);
            }
            else if (!last && call.Is(i, "MAXLEN"u8))
            {
                if (!call.TryInt64(i + 1, out look.LengthMax) || look.LengthMax < 0)
                    return call.FailBytes("ERR MAXLEN can't be negative"u8);
            }
            else
            {
                return call.Fail(Fault.Syntax);
            }
        }

        if (CollectionCalls.Examine(ref call, ref look) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, look.WrongKind);
        if (look.Count < 0)
            return call.Null();
        call.Out.Array(0);
        return Reply.Sent;
    }

    private unsafe struct PositionLook : IExamine
    {
        internal RespWriter To;
        internal byte* Value;
        internal int ValueBytes;
        internal long Rank;
        /// <summary>Matches wanted, 0 for all, -1 for the first one as a number of its own.</summary>
        internal long Count;
        internal long LengthMax;
        internal bool WrongKind;

        public void Look(ref RecordEdit record)
        {
            WrongKind = record.Kind != RecordKind.List;
            if (WrongKind)
                return;
            if (Count < 0)
            {
                if (Find(ref record, 1, write: true) == 0)
                    To.Null();
                return;
            }

            To.Array((int)Find(ref record, Count, write: false));
            Find(ref record, Count, write: true);
        }

        // Counts or writes the matches; nothing changes between the two.
        private readonly long Find(ref RecordEdit record, long wanted, bool write)
        {
            long length = Root.Count(record.Value), skip = Math.Abs(Rank) - 1, found = 0;
            bool backwards = Rank < 0;
            long looks = LengthMax == 0 ? length : Math.Min(LengthMax, length);
            ListWalk walk = ListWalk.From(ref record, backwards ? length : 0);
            for (long i = 0; i < looks && (backwards ? walk.Previous(ref record) : walk.Next(ref record)); i++)
            {
                if (!walk.Span.SequenceEqual(new ReadOnlySpan<byte>(Value, ValueBytes)) || skip-- > 0)
                    continue;
                if (write)
                    To.Int(backwards ? length - 1 - i : i);
                if (++found == wanted)
                    break;
            }

            return found;
        }
    }
}
