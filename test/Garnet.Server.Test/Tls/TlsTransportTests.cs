using System.Diagnostics;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Garnet.Server.Net;
using Garnet.Server.Tls;
using Garnet.Wire.Tls;
using NUnit.Framework;

namespace Garnet.Server.Test.Tls;

/// <summary>The rules of the encrypted transport (net.T1 to net.T3), and what it takes for a name.</summary>
internal sealed class TlsTransportTests
{
    private const int WaitMs = 1000;

    private TestCertificates _files = null!;

    [SetUp]
    public void Make() => _files = new TestCertificates();

    [TearDown]
    public void Delete() => _files.Dispose();

    [Test]
    public void What_did_not_fit_is_reported_until_it_is_taken()
    {
        using TlsPair pair = new(_files);
        pair.Say(100);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(40)), Is.EqualTo((1, 40)));
        Assert.That((pair.Transport.Wait(0), pair.Receive(40)), Is.EqualTo((1, 40)), "the socket has nothing new");
        Assert.That((pair.Transport.Wait(0), pair.Receive(40)), Is.EqualTo((1, 20)));
        Assert.That(pair.Transport.Wait(0), Is.Zero);
    }

    [Test]
    public void Who_has_something_left_and_something_new_has_one_event()
    {
        using TlsPair pair = new(_files);
        pair.Say(100);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(40)), Is.EqualTo((1, 40)));
        pair.Say(100);
        Assert.That(pair.Transport.Wait(WaitMs), Is.EqualTo(1));
        Assert.That((pair.Transport[0].Slot, pair.Transport[0].Readable), Is.EqualTo((pair.Client.Slot, true)));
        Assert.That((pair.Receive(200), pair.Transport.Wait(WaitMs), pair.Receive(200)), Is.EqualTo((60, 1, 100)));
        Assert.That(pair.Transport.Wait(0), Is.Zero);
    }

    [Test]
    public void Who_is_not_read_is_not_reported_and_makes_nobody_turn()
    {
        using TlsPair pair = new(_files);
        pair.Say(100);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(40)), Is.EqualTo((1, 40)));
        pair.Transport.Watch(pair.Client, read: false, write: false);
        var time = Stopwatch.StartNew();
        Assert.That(pair.Transport.Wait(100), Is.Zero);
        Assert.That(time.ElapsedMilliseconds, Is.GreaterThan(80), "it waits, although something is left");
        pair.Transport.Watch(pair.Client, read: true, write: false);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(100)), Is.EqualTo((1, 60)));
    }

    // In a handshake, since OpenSSL 3.0 sends nothing in a read else: of new keys it tells with the next write.
    [Test]
    public void A_read_that_must_send_first_waits_until_the_socket_takes_it()
    {
        using TlsPair pair = new(_files, agrees: false);
        byte[] bytes = new byte[64 << 10];
        int filled = 0;
        for (int sent = pair.Sockets.Near.Send(bytes, SocketFlags.None, out SocketError full); full == SocketError.Success;)
        {
            filled += sent;
            sent = pair.Sockets.Near.Send(bytes, SocketFlags.None, out full);
        }

        using var peer = TlsSession.InMemory(pair.PeerContext);
        Talk(pair, peer, TlsStep.WantsRead);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(200)), Is.EqualTo((1, ITransport.Again)));
        pair.Sockets.Far.Send(bytes.AsSpan(0, 1));
        pair.Transport.Watch(pair.Client, read: true, write: false);
        Assert.That(pair.Transport.Wait(0), Is.Zero, "there is something to read, and it is not reported");
        while (filled > 0) filled -= pair.Sockets.Far.Receive(bytes, Math.Min(filled, bytes.Length), SocketFlags.None);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Transport[0].Slot), Is.EqualTo((1, pair.Client.Slot)));
        Assert.That(pair.Receive(200), Is.EqualTo(ITransport.Again), "what it had to say is said");
        Assert.That(pair.Sockets.Far.Receive(bytes), Is.GreaterThan(1000), "certificates");
    }

    [Test]
    public void Who_asks_for_new_keys_while_nothing_more_can_be_sent_gets_all_of_it()
    {
        int full;
        using (TlsPair another = new(_files)) full = another.Fill(int.MaxValue);
        using TlsPair pair = new(_files);
        Assert.That(pair.Fill(full), Is.EqualTo(full));
        pair.AskForKeys();
        pair.Say(100);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(200)), Is.EqualTo((1, 100)));
        Assert.That(pair.Fill(1), Is.Zero);
        Assert.That(pair.Hear(), Is.EqualTo(100L * full));
        Assert.That((pair.Fill(1), pair.Hear()), Is.EqualTo((1, 100)), "by the new keys");
    }

    [Test]
    public void A_peer_that_sends_nothing_but_new_keys_keeps_nobody_and_is_cut_off()
    {
        const int RoundsMax = 10_000;
        using TlsPair pair = new(_files);
        pair.RenewKeys(300);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(100)), Is.EqualTo((1, ITransport.Again)));
        pair.Say(100);
        Assert.That((pair.Transport.Wait(WaitMs), pair.Receive(200)), Is.EqualTo((1, 100)), "some are no fault");
        int received = ITransport.Again, rounds = 0, sent = 0;
        for (; received == ITransport.Again && rounds < RoundsMax; rounds++)
        {
            sent += pair.RenewKeys(1);
            received = pair.Receive(100);
        }

        Assert.That((received, pair.Session.Fault), Is.EqualTo((ITransport.Broken, "the peer has sent 64 KiB without data among them")));
        Assert.That(sent, Is.InRange(1000, 5000));
    }

    [Test]
    public void Of_many_new_keys_a_read_takes_as_many_as_fit_into_its_room()
    {
        using TlsPair pair = new(_files);
        pair.RenewKeysAtOnce(2000);
        int rounds = 0;
        while (rounds < 2000 && pair.Transport.Wait(0) > 0 && pair.Receive(100) == ITransport.Again) rounds++;
        Assert.That(rounds, Is.InRange(3, 1999));
    }

    [TestCase("orders", "orders")]
    [TestCase("orders\0.example.org", null)]
    public void A_name_with_a_zero_byte_in_it_is_none(string inCertificate, string? name)
    {
        X500DistinguishedNameBuilder subject = new();
        subject.AddCommonName(inCertificate);
        _files.Make("named", subject.Build());
        using TlsPair pair = new(_files, "named");
        Assert.That(pair.Session.PeerName(), Is.EqualTo(name));
    }

    private static void Talk(TlsPair pair, TlsSession peer, TlsStep wanted)
    {
        byte[] made = new byte[16 << 10];
        Assert.That(peer.Handshake(), Is.EqualTo(wanted));
        pair.Sockets.Far.Send(made.AsSpan(0, peer.Drain(made)));
    }
}
