using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>What entries of one kind of collection take of memory.</summary>
/// <param name="Kind">The kind.</param>
/// <param name="Words">Arguments that make an entry.</param>
/// <param name="PageBytes">Bytes of a page where entries are kept in order, 0 if they are not.</param>
/// <param name="Times">How often an entry is kept.</param>
internal readonly record struct EntryCost(RecordKind Kind, int Words, int PageBytes = 0, int Times = 1)
{
    internal static readonly EntryCost OfHashes = new(RecordKind.Hash, Words: 2), OfSets = new(RecordKind.Set, Words: 1),
        OfLists = new(RecordKind.List, Words: 1, Sequence.ListPageBytes),
        OfSortedSets = new(RecordKind.SortedSet, Words: 2, Sequence.SortedPageBytes, Times: 2); // by name, and in order

    /// <summary>Bytes of memory: less fits into what a write may take beyond the limit.</summary>
    internal const long Large = 64 << 10;

    /// <summary>
    /// Bytes of memory that the entries which the call brings for its first key take at most, if that is much; else 0, as for a key that is too long to be one.
    /// </summary>
    internal long LargeBytes(ref Call call)
    {
        const long OfArgument = 16; // beside its bytes on the wire, more or less: the step is assured for the rest
        const long OfChunk = 1 << 10; // each chunk of a collection has the key beside it, and a quarter more than its entries, or an eighth
        int count = call.Count, keyBytes = call[1].Length;
        if (!MayBeLarge(ref call, Large - (count * OfArgument)) || keyBytes > RecordEdit.KeyBytesMax)
            return 0;
        long bytes = call.RequestBytes() - keyBytes + (count * OfArgument), each = bytes * Words / count;
        // What is larger than a third of a page leaves a part of it empty.
        long unused = each * 3 > PageBytes && each < PageBytes ? bytes / each * (PageBytes % each) / (PageBytes / each) : 0;
        bytes *= Times;
        return bytes >= Large ? bytes + (bytes / (each < OfChunk * 16 ? 4 : 8)) + unused + (bytes / OfChunk * keyBytes) : 0;
    }

    // As they were received they lie together; each lies where a script has it.
    private static unsafe bool MayBeLarge(ref Call call, long bytes)
    {
        ref readonly Garnet.Common.Resp.Arg last = ref call.Args[call.Count - 1];
        return call.Worker.Script is not null || last.Bytes - call.Args[0].Bytes + last.Length >= bytes;
    }
}
