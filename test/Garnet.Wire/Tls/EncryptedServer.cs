using System.Globalization;
using System.Net;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Tls;

/// <summary>Our server with a port for encrypted connections beside the plain one.</summary>
internal sealed class EncryptedServer : IDisposable
{
    private readonly TestCertificates _files;

    public EncryptedServer(TestCertificates files, string moreFlags = "")
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        if (!OperatingSystem.IsLinux()) Assert.Ignore("TLS is served on Linux only");
        _files = files;
        TlsPort = FreePorts.Next();
        Process = ServerProcess.TryStartOurs(string.Create(CultureInfo.InvariantCulture, $"--tls-port {TlsPort} {files.Flags} {moreFlags}"))!;
    }

    public ServerProcess Process { get; }

    public int TlsPort { get; }

    public string TlsPortText => TlsPort.ToString(CultureInfo.InvariantCulture);

    /// <summary>A connection to the plain port.</summary>
    public RespConnection Plain() => new(Process.Address);

    /// <summary>One to the other.</summary>
    public RespConnection Connect() => new(new IPEndPoint(IPAddress.Loopback, TlsPort), over: stream => _files.Over(stream));

    public void Dispose() => Process.Dispose();
}
