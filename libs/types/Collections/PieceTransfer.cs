using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>Copies a value with chunks to another key (COPY, RENAME, MOVE): root and chunks, each unchanged. The session holds the locks of both partitions.</summary>
public static unsafe class PieceTransfer
{
    /// <summary>Copies to a key under which nothing is. The chunks have numbers of the second set, and of the first if it has any.</summary>
    public static Outcome Copy<T>(StoreSession store, in KeyRef source, in KeyRef target, in PutRecord root, bool hasFirstSet)
        where T : struct, IEdit, IPiece
    {
        uint limit = RootLimit.Of(root.Value);
        var piece = new T { Part = new ValuePiece { Number = ValuePiece.Root, Bytes = root.Value, Length = root.Length } };
        Outcome outcome = store.Edit(in target, ref piece);
        for (uint place = 0; place < limit && outcome == Outcome.Done; place++)
        {
            if (hasFirstSet)
                outcome = CopyChunk<T>(store, in source, in target, place);
            if (outcome == Outcome.Done)
                outcome = CopyChunk<T>(store, in source, in target, place | RootLimit.SecondSet);
        }

        return outcome;
    }

    private static Outcome CopyChunk<T>(StoreSession store, in KeyRef source, in KeyRef target, uint number) where T : struct, IEdit, IPiece
    {
        var look = new PieceLook { Number = number };
        store.Examine(in source, ref look, quiet: true);
        if (look.Bytes == null)
            return Outcome.Done;
        var piece = new T { Part = new ValuePiece { Number = number, Bytes = look.Bytes, Length = look.Length } };
        return store.Edit(in target, ref piece);
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
