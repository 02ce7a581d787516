using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Garnet.Host.Operate;

/// <summary>
/// Writes to an open descriptor where its offset stands and moves that, by write(2). A FileStream counts an offset of its own: in a file that others write to as well, as in
/// <c>(date; garnet-server doctor) &gt; FILE</c>, what they write next takes the place of its bytes. The descriptor stays open.
/// </summary>
internal sealed unsafe class DescriptorStream(int descriptor) : Stream
{
    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override void Flush()
    {
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    /// <exception cref="IOException">It cannot be written: nobody reads any more, or the disk is full.</exception>
    public override void Write(ReadOnlySpan<byte> buffer)
    {
        while (buffer.Length > 0)
            buffer = buffer[WriteSome(buffer)..];
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    private int WriteSome(ReadOnlySpan<byte> buffer)
    {
        fixed (byte* bytes = buffer)
        {
            nint written = Libc.write(descriptor, bytes, buffer.Length);
            if (written >= 0)
                return (int)written;
        }

        int errno = Libc.Errno;
        if (errno == Libc.EINTR)
            return 0;
        throw new IOException(Marshal.GetPInvokeErrorMessage(errno));
    }
}
