using Garnet.Common.Resp;
using Garnet.Types.Collections;

namespace Garnet.Types.Streams;

/// <summary>An entry that a walk stands at. Pointers into its page, valid while nothing changes it.</summary>
public unsafe struct StreamEntry
{
    public StreamId Id;
    public int Fields;
    /// <summary>The names stand beside the values; else they are those of the page's first entry.</summary>
    public bool HasOwnNames;
    /// <summary>A bit for each value that lacks its first byte.</summary>
    public byte Mask;
    public byte* Head;
    public byte* Values;
    /// <summary>The entry behind it.</summary>
    public byte* Next;

    /// <summary>Replies the id and the fields.</summary>
    public readonly void Reply(in StreamPage page, RespWriter to)
    {
        to.Array(2);
        ReplyParts(page, to);
    }

    /// <summary>Replies the id, then the fields.</summary>
    public readonly void ReplyParts(in StreamPage page, RespWriter to)
    {
        Reply(Id, to);
        ReplyFields(page, to);
    }

    /// <summary>Replies the fields.</summary>
    public readonly void ReplyFields(in StreamPage page, RespWriter to)
    {
        to.Array(Fields * 2);
        if (HasOwnNames)
            ReplyOwn(to);
        else
            ReplyValues(page, to);
    }

    private readonly void ReplyOwn(RespWriter to)
    {
        byte* text = Values;
        for (int i = 0; i < Fields * 2; i++)
            text = StreamText.Reply(text, to);
    }

    private readonly void ReplyValues(in StreamPage page, RespWriter to)
    {
        page.Fields(out byte* heads);
        byte* value = Values, name = heads + Fields;
        uint mask = Mask;
        for (int i = 0; i < Fields; i++, mask >>= 1)
        {
            VarInt.TryRead(ref name, (byte*)nuint.MaxValue, out uint length);
            to.Bulk(new ReadOnlySpan<byte>(name, (int)length));
            name += length;
            if ((mask & 1) != 0)
            {
                value = StreamText.Reply(heads[i], value, to);
            }
            else
            {
                StreamText.Reply(*value == StreamText.Same ? name : value, to);
                value = StreamText.Skip(value);
            }

            name = StreamText.Skip(name);
        }
    }

    /// <summary>Replies an id.</summary>
    public static void Reply(StreamId id, RespWriter to)
    {
        byte* text = stackalloc byte[StreamId.TextBytesMax];
        to.Bulk(new ReadOnlySpan<byte>(text, (int)(id.Write(text) - text)));
    }
}
