using System.Runtime.CompilerServices;
using System.Text;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Tsavorite;

namespace Garnet.Server.Commands;

/// <summary>
/// One command while it runs: its arguments (bytes in the receive arena, valid until it returns), who sent it, and where the
/// reply goes. Handlers read arguments, ask the store, write to <see cref="Out"/> and return.
/// </summary>
internal unsafe ref struct Call
{
    internal readonly Executor Worker;
    internal readonly Connection Client;
    internal readonly Arg* Args;
    internal readonly int Count;
    private readonly ulong _keyHash;

    internal Call(Executor worker, Connection client, Arg* args, int count, ulong keyHash)
    {
        Worker = worker;
        Client = client;
        Args = args;
        Count = count;
        _keyHash = keyHash;
    }

    /// <summary>The reply.</summary>
    internal readonly RespWriter Out => Worker.Out;

    /// <summary>The reactor's session on the store.</summary>
    internal readonly StoreSession Session => Worker.Session;

    /// <summary>The server.</summary>
    internal readonly ServerContext Server => Worker.Server;

    /// <summary>Wall clock of this round, Unix milliseconds.</summary>
    internal readonly long NowMs => Worker.NowMs;

    /// <summary>Namespace of the client's database.</summary>
    internal readonly uint Namespace => Worker.Store.Namespaces.Id(Client.Database);

    /// <summary>Hash of the bytes of the first key, 0 if the command has none at a fixed place.</summary>
    internal readonly ulong KeyHash => _keyHash;

    /// <summary>True if nothing has been received behind the command and no reply is to be sent before its own.</summary>
    internal readonly bool IsAlone => Args[Count - 1].Bytes + Args[Count - 1].Length + 2 == Client.RoundEnd && Out.Mark == 0;

    /// <summary>False inside a transaction or a script: what would wait answers as things are.</summary>
    internal readonly bool MayPark => (Client.Modes & (ClientModes.Transaction | ClientModes.Script)) == 0;

    /// <summary>When a command that waits gives up, Unix milliseconds: after so many (0 = never), at once where it may not wait.</summary>
    internal readonly long UntilMs(long timeoutMs) => !MayPark ? NowMs : timeoutMs == 0 ? long.MaxValue : NowMs + timeoutMs;

    /// <summary>The key at the command's first key position, hashed when it was framed.</summary>
    internal readonly KeyRef Key
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)] // GetBenchmark
        get => Worker.Store.KeyFromHash(Args[1].Bytes, Args[1].Length, Namespace, _keyHash);
    }

    /// <summary>The arguments without the rest.</summary>
    internal readonly Arguments Arguments => new(Args, Count);

    /// <summary>The bytes of an argument.</summary>
    internal readonly ReadOnlySpan<byte> this[int index] => new(Args[index].Bytes, Args[index].Length);

    /// <summary>Any argument as a key of the client's database, hashed now.</summary>
    internal readonly KeyRef KeyAt(int index) => Worker.Store.Key(Args[index].Bytes, Args[index].Length, Namespace);

    /// <summary>
    /// Locks a key of the client's database, which stands for its namespace then (transactions.X1): a replica applies its primary's SWAPDB beside its reactors, perhaps
    /// between the look-up of the namespace and the lock.
    /// </summary>
    internal readonly KeyRef LockKeyAt(int index)
    {
        while (true)
        {
            KeyRef key = KeyAt(index);
            Session.Lock([key]);
            if (Worker.Store.IsOf(Client.Database, in key))
                return key;
            Session.Unlock();
        }
    }

    /// <summary>Hash of the bytes of an argument, as of a key.</summary>
    internal readonly ulong HashAt(int index) => Worker.Store.HashBytes(Args[index].Bytes, Args[index].Length);

    /// <summary>Any argument as a key of the given namespace, hashed now.</summary>
    internal readonly KeyRef KeyAt(int index, uint ns) => Worker.Store.Key(Args[index].Bytes, Args[index].Length, ns);

    /// <summary>True if the argument is the word, in any case.</summary>
    internal readonly bool Is(int index, ReadOnlySpan<byte> upperWord) => Arguments.Is(index, upperWord);

    /// <summary>The argument as a strict signed integer.</summary>
    internal readonly bool TryInt64(int index, out long value) => NumberText.TryInt64(this[index], out value);

    /// <summary>The argument as an error message shows it: up to its first zero byte, as C prints it.</summary>
    internal readonly ReadOnlySpan<byte> Shown(int index)
    {
        ReadOnlySpan<byte> text = this[index];
        int zero = text.IndexOf((byte)0);
        return zero < 0 ? text : text[..zero];
    }

    /// <summary>Bytes the request took on the wire, as an array of bulk strings.</summary>
    internal readonly long RequestBytes()
    {
        const int Frame = 5; // the type's letter and two line ends
        long bytes = NumberText.CountDigits((ulong)Count) + 3;
        for (int i = 0; i < Count; i++)
            bytes += Args[i].Length + NumberText.CountDigits((ulong)Args[i].Length) + Frame;
        return bytes;
    }

    /// <summary>The argument as text.</summary>
    internal readonly string Text(int index) => Encoding.UTF8.GetString(this[index]);

    /// <summary>Replies <c>+OK</c>.</summary>
    internal readonly Reply Ok()
    {
        Out.Ok();
        return Reply.Sent;
    }

    /// <summary>Replies an integer.</summary>
    internal readonly Reply Int(long value)
    {
        Out.Int(value);
        return Reply.Sent;
    }

    /// <summary>Replies nil.</summary>
    internal readonly Reply Null()
    {
        Out.Null();
        return Reply.Sent;
    }

    /// <summary>Replies a bulk string.</summary>
    internal readonly Reply Bulk(ReadOnlySpan<byte> bytes)
    {
        Out.Bulk(bytes);
        return Reply.Sent;
    }

    /// <summary>Replies a shared error.</summary>
    internal readonly Reply Fail(Fault fault) => FailBytes(FaultText.Of(fault));

    /// <summary>Replies an error of the command's own, its code in front.</summary>
    internal readonly Reply FailText(string text) => FailBytes(Encoding.Latin1.GetBytes(text));

    /// <summary>Replies an error of the command's own, its code in front.</summary>
    internal readonly Reply FailBytes(ReadOnlySpan<byte> text)
    {
        Out.Error(text);
        Worker.Figures.CountError(text);
        return Reply.Failed;
    }

    /// <summary>Replies what a store outcome that is no success means.</summary>
    internal readonly Reply From(Outcome outcome) => outcome switch
    {
        Outcome.NotFound => Null(),
        Outcome.OutOfMemory => Fail(Fault.OutOfMemory),
        Outcome.TooLarge => Fail(Args[1].Length > Tsavorite.Store.KeyBytesMax ? Fault.KeyTooLong
            : IsOfStrings ? Fault.StringTooLong
            : Args[1].Length > Tsavorite.RecordEdit.KeyBytesMax ? Fault.CollectionKeyTooLong : Fault.ElementTooLong),
        _ => Fail(Fault.Internal),
    };

    private readonly bool IsOfStrings => Server.Commands.Specs[Client.LastCommand].Group is "string" or "bitmap" or "generic";

    /// <summary>Replies Redis's sentence for a subcommand whose own handler counts its arguments.</summary>
    internal readonly Reply WrongSubcommandArity() =>
        FailText($"ERR unknown subcommand or wrong number of arguments for '{Encoding.Latin1.GetString(Shown(1))}'. Try " +
            $"{Encoding.Latin1.GetString(Shown(0)).ToUpperInvariant()} HELP.");

    /// <summary>Replies Redis's sentence for a wrong number of arguments.</summary>
    internal readonly Reply WrongArity() => FailText(WrongArityText());

    /// <summary>That sentence.</summary>
    internal readonly string WrongArityText() =>
        FaultText.WrongArity(Worker.Server.Commands.Specs[Client.LastCommand].Name);
}
