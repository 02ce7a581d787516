using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Copies a stream to another key, part by part as it is. Both partitions are locked by the session.</summary>
public static unsafe class StreamTransfer
{
    /// <summary>Copies to a key under which nothing is.</summary>
    public static Outcome Copy(StoreSession store, in KeyRef source, in KeyRef target, in PutRecord root)
    {
        var piece = new StreamPiece { Number = StreamPiece.Root, Bytes = root.Value, Length = root.Length };
        Outcome outcome = store.Edit(in target, ref piece);
        uint limit = ((StreamHeader*)root.Value)->Limit;
        for (uint i = 0; i < limit * 2 && outcome == Outcome.Done; i++)
        {
            var look = new PieceLook { Number = (i >> 1) | ((i & 1) * RootLimit.SecondSet) };
            store.Examine(in source, ref look, quiet: true);
            if (look.Bytes == null)
                continue;
            piece = new StreamPiece { Number = look.Number, Bytes = look.Bytes, Length = look.Length };
            outcome = store.Edit(in target, ref piece);
        }

        return outcome;
    }

    // Where a chunk is: true until the source is changed.
    private struct PieceLook : IExamine
    {
        public uint Number;
        public byte* Bytes;
        public int Length;

        public void Look(ref RecordEdit record) => Bytes = record.Chunk(Number, out Length);
    }
}
