using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Net;

/// <summary>The commands that have been framed and not run yet, of all connections of a reactor, in the order in which they run.</summary>
internal sealed unsafe class FrameBatch(Store store, CommandTable commands) : IDisposable
{
    internal const int FramesMax = 64;

    private readonly CommandEntry* _entries = commands.Entries;
    private readonly NativeArray<Frame> _memory = new(FramesMax);

    /// <summary>How many there are.</summary>
    internal int Count { get; private set; }

    /// <summary>The table of commands.</summary>
    internal CommandEntry* Entries => _entries;

    internal Frame* Frames => _memory.Items;

    /// <summary>Who sent each of them.</summary>
    internal Connection[] Clients { get; } = new Connection[FramesMax];

    /// <summary>The arguments of all.</summary>
    internal ArgList Args { get; } = new();

    /// <summary>The indexes of the arguments that name members of the first key's collection, or-ed together: 0 if no command has one.</summary>
    internal int Members { get; private set; }

    /// <summary>True if all of it is one large request (<see cref="BigRequest"/>), whose bytes do not lie in the receive buffer.</summary>
    internal bool IsBig { get; set; }

    internal bool IsFull => Count == FramesMax;

    /// <summary>Adds the command that the parser has just found; its bytes lie from start to end.</summary>
    internal void Add(Connection client, byte* start, byte* end, RespParser parser)
    {
        int index = Count++;
        Frame* frame = Frames + index;
        Arg* args = Args.Items + parser.FirstArg;
        int command = commands.Find(args, parser.ArgCount);
        frame->Start = start;
        frame->End = end;
        frame->FirstArg = parser.FirstArg;
        frame->ArgCount = parser.ArgCount;
        frame->Command = command;
        frame->IsAnswered = false;
        Clients[index] = client;
        int key = _entries[command].FirstKey;
        Members |= _entries[command].Member;
        if (key == 0 || key >= parser.ArgCount)
        {
            frame->KeyHash = 0;
            frame->Bucket = 0;
            return;
        }

        frame->KeyHash = store.HashBytes(args[key].Bytes, args[key].Length);
        frame->Bucket = store.Namespaces.TryId(client.Database, out uint ns) // while a script runs for long, framing must go on
            ? store.PrefetchBucket(store.KeyFromHash(args[key].Bytes, args[key].Length, ns, frame->KeyHash))
            : 0;
    }

    /// <summary>All have been run.</summary>
    internal void Clear()
    {
        Count = Members = 0;
        IsBig = false;
        Args.Clear();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _memory.Dispose();
        Args.Dispose();
    }
}
