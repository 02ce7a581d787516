using System.Buffers.Binary;
using System.ComponentModel;
using System.Net;
using Garnet.Common.Linux;

namespace Garnet.Load.Machine;

/// <summary>Opens non-blocking TCP connections.</summary>
internal static unsafe class Dial
{
    private const int CongestionOption = 13;

    /// <summary>Connects; a connection that begins with a command has been answered <c>+OK</c> to it.</summary>
    public static int Open(IPEndPoint server, byte[] opening)
    {
        int descriptor = Open(server);
        if (opening.Length == 0) return descriptor;
        byte* reply = stackalloc byte[64];
        fixed (byte* bytes = opening) _ = Libc.send(descriptor, bytes, opening.Length, Libc.MSG_NOSIGNAL);
        if (Libc.recv(descriptor, reply, 64, 0) != 5) throw new IOException("what a connection begins with was not answered OK");
        return descriptor;
    }

    public static int Open(IPEndPoint server)
    {
        int descriptor = Libc.socket(Libc.AF_INET, Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC, 0);
        if (descriptor < 0) throw new Win32Exception(Libc.Errno);
        byte* address = stackalloc byte[16];
        new Span<byte>(address, 16).Clear();
        *(ushort*)address = Libc.AF_INET;
        BinaryPrimitives.WriteUInt16BigEndian(new Span<byte>(address + 2, 2), (ushort)server.Port);
        server.Address.TryWriteBytes(new Span<byte>(address + 4, 4), out _);
        if (Libc.connect(descriptor, address, 16) < 0)
        {
            int error = Libc.Errno;
            _ = Libc.close(descriptor);
            throw new Win32Exception(error);
        }
        int on = 1;
        _ = Libc.setsockopt(descriptor, Libc.IPPROTO_TCP, Libc.TCP_NODELAY, &on, sizeof(int));
        // The plainest congestion control: a pacing default (bbr) costs the generator a tenth of its core on loopback.
        fixed (byte* reno = "reno\0"u8) _ = Libc.setsockopt(descriptor, Libc.IPPROTO_TCP, CongestionOption, reno, 4);
        return descriptor;
    }

    /// <summary>Lifts the descriptor limit of this process to what the machine allows.</summary>
    public static void RaiseDescriptorLimit()
    {
        ulong* limits = stackalloc ulong[2];
        if (Libc.getrlimit(Libc.RLIMIT_NOFILE, limits) < 0) return;
        limits[0] = limits[1];
        _ = Libc.setrlimit(Libc.RLIMIT_NOFILE, limits);
    }
}
