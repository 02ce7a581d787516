using Garnet.Common;
using Garnet.Replication.Frames;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication;

/// <summary>What ends a link and nothing else.</summary>
public sealed class LinkSocketTests
{
    [Test]
    public void What_does_not_fit_into_a_frame_is_said_and_ends_its_link_only()
    {
        Assert.That(FrameWriter.Bytes32(Array.MaxLength), Is.EqualTo(Array.MaxLength));
        foreach (long bytes in (long[])[Array.MaxLength + 1L, 1L << 31, 1L << 32])
            Assert.That(LinkSocket.IsOfLink(Assert.Throws<GarnetException>(() => FrameWriter.Bytes32(bytes))!));
    }
}
