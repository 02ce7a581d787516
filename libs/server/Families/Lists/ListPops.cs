using Garnet.Common.Resp;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Blocking;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Server.Families.Lists;

/// <summary>What LMPOP and the blocking commands take from an end of a list, the key's name in front.</summary>
internal readonly struct ListTake(bool left, bool many, long count) : ITake
{
    private static readonly KeyEvent PoppedLeft = new("lpop", NotifyClasses.List) { Empties = true };
    private static readonly KeyEvent PoppedRight = new("rpop", NotifyClasses.List) { Empties = true };

    public RecordKind Kind => RecordKind.List;

    public byte[]? Target => null;

    public KeyEvent? Event => EventOf(left);

    internal static KeyEvent EventOf(bool left) => left ? PoppedLeft : PoppedRight;

    public unsafe void Run(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to)
    {
        ref readonly KeyRef key = ref keys[0];
        ListPop pop = Pop(new Arg { Bytes = key.Bytes, Length = key.Length }, to);
        store.Edit(in key, ref pop);
    }

    public unsafe bool TryTake(ref Call call, int keyAt, out Reply reply)
    {
        KeyRef key = call.KeyAt(keyAt);
        ListPop pop = Pop(call.Args[keyAt], call.Out);
        call.Session.Edit(in key, ref pop);
        reply = pop.WrongKind ? call.Fail(Fault.WrongType) : Reply.Sent;
        return pop.WrongKind || pop.Found;
    }

    private ListPop Pop(Arg name, RespWriter to) => new() { Left = left, Count = count, Many = many, Named = true, Name = name, To = to };
}

/// <summary>What BLMOVE and BRPOPLPUSH move, once there is something.</summary>
internal readonly struct ListShift(ListMove move, byte[] target) : IPop
{
    private static readonly KeyEvent PushedLeft = new("lpush", NotifyClasses.List), PushedRight = new("rpush", NotifyClasses.List);

    public RecordKind Kind => RecordKind.List;

    public byte[]? Target => target;

    public KeyEvent? Event => PushedBy(move) with { Taken = ListTake.EventOf(move.FromLeft) };

    internal static KeyEvent PushedBy(ListMove move) => move.ToLeft ? PushedLeft : PushedRight;

    public void Run(StoreSession store, ReadOnlySpan<KeyRef> keys, RespWriter to)
    {
        Outcome outcome = LMove.MoveLocked(store, keys, move, to, out bool isWrongKind);
        if (outcome != Outcome.Done)
            to.Error(FaultText.Of(isWrongKind ? Fault.WrongType : Fault.OutOfMemory));
    }
}
