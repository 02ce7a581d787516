using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Blocking;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.SortedSets;

/// <summary>What ZMPOP and the blocking commands take from an end of a sorted set, the key's name in front.</summary>
internal readonly struct SortedTake(bool greatest, bool many, long count) : ITake
{
    public RecordKind Kind => RecordKind.SortedSet;

    public byte[]? Target => null;

    public KeyEvent? Event => EventOf(greatest);

    internal static KeyEvent EventOf(bool greatest) => new(greatest ? "zpopmax" : "zpopmin", NotifyClasses.SortedSet) { Empties = true };

    public unsafe void Run(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to)
    {
        ref readonly KeyRef key = ref keys[0];
        SortedSetCut cut = Cut(new Arg { Bytes = key.Bytes, Length = key.Length }, to);
        SortedEdits.Run(store, in key, ref cut);
    }

    public unsafe bool TryTake(ref Call call, int keyAt, out Reply reply)
    {
        KeyRef key = call.KeyAt(keyAt);
        SortedSetCut cut = Cut(call.Args[keyAt], call.Out);
        SortedEdits.Run(call.Session, in key, ref cut);
        reply = cut.WrongKind ? call.Fail(Fault.WrongType) : Reply.Sent;
        return cut.WrongKind || cut.Found;
    }

    private SortedSetCut Cut(Arg name, RespWriter to) => new()
    {
        Range = new SortRange { ByRank = true, Stop = count - 1, Reverse = greatest },
        To = new SortedReply(to) { WithScores = true, Nested = many, Single = !many, Named = true, Name = name },
    };
}
