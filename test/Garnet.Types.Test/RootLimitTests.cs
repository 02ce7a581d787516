using System.Runtime.InteropServices;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Types.Test;

/// <summary>Whoever lays out a root has the store's one field where the store looks for it.</summary>
public sealed unsafe class RootLimitTests
{
    private const uint Number = 0x01234567;

    [Test]
    public void A_stream_has_the_limit_where_the_store_reads_it()
    {
        var header = new StreamHeader { Limit = Number };
        Assert.That(RootLimit.Of((byte*)&header), Is.EqualTo(Number));
    }

    [Test]
    public void The_limit_of_the_store_is_what_a_stream_has()
    {
        var header = default(StreamHeader);
        RootLimit.Raise((byte*)&header, Number);
        Assert.That((header.Limit, Bytes(header)), Is.EqualTo((Number + 1, sizeof(uint))), "and nothing else has changed");

        static int Bytes(StreamHeader changed)
        {
            changed.Limit = uint.MaxValue;
            return MemoryMarshal.AsBytes(new Span<StreamHeader>(ref changed)).ToArray().Count(static one => one != 0);
        }
    }

    [Test]
    public void The_fields_of_a_chunked_collection_leave_the_limit_alone()
    {
        byte* root = stackalloc byte[Root.ChunkedBytes];
        new Span<byte>(root, Root.ChunkedBytes).Clear();
        RootLimit.Raise(root, Number);
        Root.SetSlots(root, -1);
        Root.SetChunks(root, 1);
        Assert.That(RootLimit.Of(root), Is.EqualTo(Number + 1));
    }

    [Test]
    public void What_a_stream_begins_with_is_as_long_as_layout_1_has_it() => Assert.That(sizeof(StreamHeader), Is.EqualTo(96));
}
