using System.Runtime.InteropServices;
using System.Text;
using BenchmarkDotNet.Attributes;
using Garnet.Common.Resp;
using Garnet.Types;
using Garnet.Types.Collections;
using Garnet.Types.Hashes;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Bdn;

/// <summary>
/// What a command on a collection takes behind the command table: key to hash, index, lock, operation, reply's bytes.
/// HGET of one of ten fields; ZADD that moves one of a thousand members, as far as half of them away.
/// </summary>
[MemoryDiagnoser]
public unsafe class CollectionBenchmark : IDisposable
{
    private const int Fields = 10, Members = 1000, WordRoom = 64 + 32, Reply = 2, ReplyRooms = 4;
    private readonly CollectionLimits _limits = CollectionLimits.OfSortedSets(new EncodingSettings());
    private readonly RespWriter _reply = new(new Enough());
    private Store _store = null!;
    private StoreSession _session = null!;
    private byte* _words;
    private Arg* _fields, _moves;
    private int _next;

    [GlobalSetup]
    public void Open()
    {
        _store = new Store(new StoreSettings { MemoryLimitBytes = 256 << 20 });
        _session = _store.OpenSession();
        _words = (byte*)NativeMemory.AlignedAlloc((nuint)(WordRoom * (Reply + ReplyRooms + 2 * Fields + 4 * Members)), 64);
        _fields = (Arg*)NativeMemory.Alloc((nuint)(sizeof(Arg) * 2 * Fields));
        _moves = (Arg*)NativeMemory.Alloc((nuint)(sizeof(Arg) * 4 * Members));
        int word = Reply + ReplyRooms;
        Write(0, "hash");
        Write(1, "sorted");
        _reply.Start = _words + Reply * WordRoom;
        _reply.Limit = _reply.Start + ReplyRooms * WordRoom - RespWriter.Slack;
        for (int i = 0; i < 2 * Fields; i++) _fields[i] = Write(word++, i % 2 == 0 ? $"field{i / 2}" : $"value{i / 2:000}");
        // There, then half of them away and back again, so that each has something to do.
        for (int i = 0; i < 2 * Members; i++)
        {
            int member = i % Members;
            _moves[2 * i] = Write(word++, $"{(i < Members ? member : (member + Members / 2) % Members)}");
            _moves[2 * i + 1] = Write(word++, $"member{member:000}");
        }
        HashPut put = new() { Pairs = new Operands(_fields, 2 * Fields), Limits = CollectionLimits.OfHashes(new EncodingSettings()) };
        KeyRef hash = Key(0, 4);
        _session.Edit(hash, ref put);
        for (int i = 0; i < Members; i++) Add(i);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _store.Dispose();
        NativeMemory.AlignedFree(_words);
        NativeMemory.Free(_fields);
        NativeMemory.Free(_moves);
        GC.SuppressFinalize(this);
    }

    [Benchmark]
    public long Hget()
    {
        _next = (_next + 7) % Fields;
        _reply.Position = _reply.Start;
        FieldLook look = new(_reply, _fields[2 * _next], FieldQuestion.Value);
        _session.Examine(Key(0, 4), ref look);
        return _reply.Mark;
    }

    [Benchmark]
    public int Zadd()
    {
        _next = (_next + 1) % (2 * Members);
        return Add(_next);
    }

    private int Add(int move)
    {
        SortedSetPut put = new() { Pairs = new Operands(_moves + 2 * move, 2), Limits = _limits };
        _session.Edit(Key(1, 6), ref put);
        return put.Added;
    }

    private KeyRef Key(int word, int bytes) => _store.Key(_words + word * WordRoom, bytes, 0);

    private Arg Write(int word, string text)
    {
        byte* at = _words + word * WordRoom;
        return new Arg { Bytes = at, Length = Encoding.ASCII.GetBytes(text, new Span<byte>(at, WordRoom)) };
    }

    /// <summary>No reply here is longer than the room it has.</summary>
    private sealed class Enough : IReplyRoom
    {
        public bool TryMakeRoom(RespWriter writer, int bytes) => throw new InvalidOperationException("the reply is longer than the benchmark's room");
    }
}
