using Garnet.Common.Resp;
using Garnet.Types;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Rdb.Streams;

/// <summary>Puts a stream that has been read under a key where nothing is, in operations of bounded size. The partition is locked by the session meanwhile.</summary>
internal static unsafe class StreamStoring
{
    private const int SliceBytes = 32 * 1024, PiecesMax = 1024, NamesHeadBytes = 16;

    /// <summary>How many changes that is at most, and how many bytes of arguments they have.</summary>
    internal static (long Changes, long Bytes) LogOf(StreamValue stream)
    {
        // names said again are less than half of it
        long changes = 2 + stream.Runs.Count + (stream.Bytes / SliceBytes), bytes = 2L * stream.Bytes;
        foreach (StreamGroupValue group in stream.Groups)
        {
            changes += 2 + (group.Released.Count / PiecesMax);
            bytes += (2L * group.Name.Length) + ((long)PendingPiece.Bytes * group.Released.Count);
            foreach (StreamConsumerValue consumer in group.Consumers)
            {
                int pieces = 1 + (consumer.Pending.Count / PiecesMax);
                changes += pieces;
                bytes += ((long)PendingPiece.Bytes * consumer.Pending.Count)
                    + (pieces * ((long)group.Name.Length + consumer.Name.Length + NamesHeadBytes));
            }
        }

        return (changes, bytes);
    }

    /// <summary>Puts it there; if memory runs out, what is there is a part.</summary>
    internal static Outcome Put(StoreSession store, in KeyRef key, StreamValue stream, EncodingSettings encoding)
    {
        var begin = default(StreamFill);
        Outcome outcome = store.Edit(in key, ref begin);
        foreach (StreamRun run in stream.Runs)
        {
            if (outcome == Outcome.Done)
                outcome = PutRun(store, in key, stream, run, StreamLimits.Of(encoding));
        }

        var known = new StreamSetId { Last = stream.Last, Added = stream.Added, MaxDeleted = stream.MaxDeleted };
        outcome = outcome == Outcome.Done ? store.Edit(in key, ref known) : outcome;
        foreach (StreamGroupValue group in stream.Groups)
        {
            if (outcome == Outcome.Done)
                outcome = PutGroup(store, in key, group);
        }

        return outcome;
    }

    private static Outcome PutRun(StoreSession store, in KeyRef key, StreamValue stream, StreamRun run, in StreamLimits limits)
    {
        Operands.TryDecode(new ReadOnlySpan<byte>(stream.Head + run.Names, run.Entries - run.Names), out Operands names);
        int wanted = Math.Max(SliceBytes, run.Entries - run.Names); // so that names said again are less than half of it
        byte* at = stream.Head + run.Entries, end = stream.Head + run.End;
        while (at < end)
        {
            byte* start = at;
            while (at < end && at - start < wanted)
                StreamFill.TrySkip(ref at, end, names.Count);
            var fill = new StreamFill { Names = names, Entries = start, Length = (int)(at - start), Limits = limits };
            Outcome outcome = store.Edit(in key, ref fill);
            if (outcome != Outcome.Done)
                return outcome;
        }

        return Outcome.Done;
    }

    private static Outcome PutGroup(StoreSession store, in KeyRef key, StreamGroupValue group)
    {
        var look = new ReadLook { Id = group.Last };
        if (group.Read is null)
            store.Examine(in key, ref look, quiet: true);
        fixed (byte* name = group.Name)
        {
            Arg* names = stackalloc Arg[2];
            names[0] = new Arg { Bytes = name, Length = group.Name.Length };
            var create = new GroupEdit
            {
                Action = GroupAction.Create,
                Names = new Operands(names, 1),
                Id = group.Last,
                Read = group.Read ?? look.Read,
            };
            Outcome outcome = store.Edit(in key, ref create);
            foreach (StreamConsumerValue consumer in group.Consumers)
            {
                fixed (byte* other = consumer.Name)
                {
                    names[1] = new Arg { Bytes = other, Length = consumer.Name.Length };
                    outcome = outcome == Outcome.Done ? PutConsumer(store, in key, new Operands(names, 2), consumer) : outcome;
                }
            }

            var nobody = new StreamConsumerValue([], 0, 0, group.Released);
            return outcome == Outcome.Done && group.Released.Count > 0
                ? PutConsumer(store, in key, new Operands(names, 1), nobody)
                : outcome;
        }
    }

    private static Outcome PutConsumer(StoreSession store, in KeyRef key, in Operands names, StreamConsumerValue consumer)
    {
        Outcome outcome = Outcome.Done;
        int at = 0;
        do
        {
            PendingPiece[] pieces = [.. consumer.Pending.Skip(at).Take(PiecesMax)];
            fixed (PendingPiece* first = pieces)
            {
                var put = new PutPending
                {
                    Names = names,
                    SeenMs = consumer.SeenMs,
                    ActiveMs = consumer.ActiveMs,
                    Pieces = first,
                    Count = pieces.Length,
                };
                outcome = store.Edit(in key, ref put);
            }

            at += PiecesMax;
        }
        while (at < consumer.Pending.Count && outcome == Outcome.Done);
        return outcome;
    }

    private struct ReadLook : IExamine
    {
        internal StreamId Id;
        internal long Read;

        public void Look(ref RecordEdit record) => Read = GroupLag.ReadUpTo(StreamForm.Header(ref record), Id);
    }
}
