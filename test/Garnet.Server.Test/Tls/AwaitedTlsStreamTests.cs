using System.Net;
using System.Net.Sockets;
using Garnet.Common.Test;
using Garnet.Server.Tls;
using Garnet.Wire.Tls;
using NUnit.Framework;

namespace Garnet.Server.Test.Tls;

/// <summary>What the client's end of a link says when the other side goes.</summary>
internal sealed class AwaitedTlsStreamTests
{
    private const int TimeoutMs = 60_000;

    [Test]
    public async Task Who_is_refused_by_his_certificate_is_told_so_though_he_has_sent_more_meanwhile()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("TLS is served on Linux only");
        using TestCertificates files = new();
        long now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        using TlsContext server = TlsContext.OfServer(Settings(files), now);
        using TlsContext client = TlsContext.OfClient(new TlsSettings { AuthorityFile = files.AuthorityFile }, now); // shows no certificate
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        using Socket near = new(SocketType.Stream, ProtocolType.Tcp);
        await near.ConnectAsync(listener.LocalEndpoint);
        Socket far = await listener.AcceptSocketAsync();
        far.Blocking = false;
        var session = new TlsSession(server.Handle, (int)far.Handle, isServer: true);
        Task<Stream> agreed = AwaitedTlsStream.Agreed(near, TlsSession.InMemory(client.Handle), TimeoutMs, advice: null);
        Patience.Until(() =>
        {
            Assert.That(session.Handshake(), Is.Not.EqualTo(TlsStep.Done));
            return agreed.IsCompleted;
        });
        Stream stream = await agreed;
        Eventually.Holds(() => session.Handshake() == TlsStep.Broken);
        session.Dispose();
        far.Dispose();
        IOException refused = Assert.ThrowsAsync<IOException>(async () =>
        {
            while (true) await stream.WriteAsync(new byte[100]);
        })!;
        Assert.That(refused.Message, Does.StartWith("TLS failed: ").And.Contain("certificate required"));
        await stream.DisposeAsync();
    }

    private static TlsSettings Settings(TestCertificates files) => new()
    {
        CertificateFile = files.ServerCertificate, KeyFile = files.ServerKey, AuthorityFile = files.AuthorityFile,
    };
}
