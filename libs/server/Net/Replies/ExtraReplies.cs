using Garnet.Common.Bytes;
using Garnet.Server.Base;
using Garnet.Server.Clients;

namespace Garnet.Server.Net;

/// <summary>
/// Memory for the replies of a round that outgrow a reactor's own; given back at its end. A reply that goes on growing keeps its block, which
/// the system extends without a copy, and what the socket does not take of it goes to its client as it lies: so that a large reply is held once.
/// </summary>
internal sealed unsafe class ExtraReplies
{
    /// <summary>When so much is taken, what there is is sent before another client's replies are written.</summary>
    internal const int SharedBytesMax = 4 * 1024 * 1024;

    private readonly List<(nint Start, long Bytes)> _blocks = new(0);

    /// <summary>For tests: replies move whenever there is room to be made, which is for every piece, and where they were is written over (common.R1).</summary>
    internal static bool MovesAlways { get; set; }

    /// <summary>Bytes taken.</summary>
    internal long Bytes { get; private set; }

    /// <summary>
    /// A block of that size, with slack and a reserve behind it, that begins with what is kept at a place; the place's own block grows if it begins there.
    /// It may be larger, as it then says. Null if there is no memory for it, and everything is as it was.
    /// </summary>
    internal byte* TryGrow(byte* at, long kept, ref long bytes)
    {
        int last = _blocks.Count - 1;
        bool grows = last >= 0 && _blocks[last].Start == (nint)at;
        byte* memory = ReplyBlock.TryGrow(grows && !MovesAlways ? at : null, ref bytes);
        if (memory == null)
            return null;
        if (MovesAlways)
        {
            Buffer.MemoryCopy(at, memory, bytes, kept);
            if (grows)
            {
                new Span<byte>(at, (int)_blocks[last].Bytes).Fill(0xDD);
                ReplyBlock.Free(at, _blocks[last].Bytes);
                Bytes -= _blocks[last].Bytes;
                _blocks.RemoveAt(last);
            }

            _blocks.Add(((nint)memory, bytes));
        }
        else if (grows)
        {
            Bytes -= _blocks[last].Bytes;
            _blocks[last] = ((nint)memory, bytes);
        }
        else
        {
            Buffer.MemoryCopy(at, memory, bytes, kept);
            _blocks.Add(((nint)memory, bytes));
        }

        Bytes += bytes;
        return memory;
    }

    /// <summary>
    /// Hands the last block, which has these bytes of a client's replies, over to the client instead of copying them. False if they are in another block or share this one:
    /// a block of more than <see cref="SharedBytesMax"/> has the replies of one client only, as others are sent first.
    /// </summary>
    internal bool TryGive(byte* from, int count, ref ReplyQueue to)
    {
        int last = _blocks.Count - 1;
        if (last < 0 || _blocks[last].Bytes <= SharedBytesMax)
            return false;
        byte* start = (byte*)_blocks[last].Start;
        long before = from - start;
        long bytes = _blocks[last].Bytes, blockBytes = bytes + ReplyBlock.BehindBytes;
        if (before < 0 || before + count > bytes || blockBytes > ByteQueue.BytesMax || before > count)
            return false; // elsewhere, or most of it has been sent and need not be kept
        Bytes -= bytes;
        _blocks.RemoveAt(last);
        to.Adopt(start, (int)blockBytes, (int)before, (int)before + count);
        return true;
    }

    /// <summary>Gives everything back.</summary>
    internal void Free()
    {
        if (Bytes == 0)
            return;
        foreach ((nint memory, long bytes) in _blocks)
            ReplyBlock.Free((byte*)memory, bytes);
        _blocks.Clear();
        Bytes = 0;
    }
}
