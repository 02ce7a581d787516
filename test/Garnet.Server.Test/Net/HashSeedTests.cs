using System.Text;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>Row 35 of the list of bad inputs: keys made to share a bucket of one server do not share one of another.</summary>
[TestFixture]
internal sealed unsafe class HashSeedTests
{
    [Test]
    public void Each_store_hashes_with_a_seed_of_its_own()
    {
        using TestServer one = new(TransportKind.Auto), other = new(TransportKind.Auto);
        byte[] key = Encoding.ASCII.GetBytes("a key".PadRight(64));
        fixed (byte* bytes = key)
            Assert.That(one.Server.Store.HashBytes(bytes, 5), Is.Not.EqualTo(other.Server.Store.HashBytes(bytes, 5)));
    }
}
