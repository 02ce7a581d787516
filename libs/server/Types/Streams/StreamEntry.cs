using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;

namespace Garnet.Server.Types.Streams;

/// <summary>An entry that a walk stands at. Pointers into its page, valid while nothing changes it.</summary>
internal unsafe struct StreamEntry
{
    internal StreamId Id;
    internal int Fields;
    /// <summary>The names stand beside the values; else they are those of the page's first entry.</summary>
    internal bool HasOwnNames;
    internal byte* Head;
    internal byte* Values;
    /// <summary>The entry behind it.</summary>
    internal byte* Next;

    /// <summary>Replies the id and the fields.</summary>
    internal readonly void Reply(in StreamPage page, RespWriter to)
    {
        to.Array(2);
        Reply(Id, to);
        ReplyFields(page, to);
    }

    /// <summary>Replies the fields.</summary>
    internal readonly void ReplyFields(in StreamPage page, RespWriter to)
    {
        to.Array(Fields * 2);
        byte* value = Values, name = null;
        if (!HasOwnNames)
            page.NamesCount(out name);
        for (int i = 0; i < Fields; i++)
        {
            if (HasOwnNames)
            {
                value = StreamText.Reply(value, to);
                value = StreamText.Reply(value, to);
                continue;
            }

            VarInt.TryRead(ref name, (byte*)nuint.MaxValue, out uint length);
            to.Bulk(new ReadOnlySpan<byte>(name, (int)length));
            name += length;
            StreamText.Reply(*value == StreamText.Same ? name : value, to);
            name = StreamText.Skip(name);
            value = StreamText.Skip(value);
        }
    }

    /// <summary>Replies an id.</summary>
    internal static void Reply(StreamId id, RespWriter to)
    {
        byte* text = stackalloc byte[StreamId.TextBytesMax];
        to.Bulk(new ReadOnlySpan<byte>(text, (int)(id.Write(text) - text)));
    }
}
