using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;

namespace Garnet.Types.Streams;

/// <summary>Ids for an operation: arguments of a command that have been looked through, or what the log keeps of them (16 bytes each).</summary>
public unsafe struct StreamIds
{
    public const int IdBytes = 16;

    private readonly Arg* _args;
    private readonly byte* _encoded;

    /// <summary>The arguments from <paramref name="first"/> on, all of them ids.</summary>
    public StreamIds(Arg* first, int count)
    {
        _args = first;
        Count = count;
    }

    private StreamIds(byte* encoded, int count)
    {
        _encoded = encoded;
        Count = count;
    }

    public int Count { get; private set; }

    /// <summary>Keeps the first ones only.</summary>
    public void Truncate(int count) => Count = Math.Min(Count, count);

    public readonly StreamId this[int index]
    {
        get
        {
            if (_args == null)
                return Unsafe.ReadUnaligned<StreamId>(_encoded + (index * (long)IdBytes));
            StreamId.TryParse(_args[index].Span, 0, out StreamId id);
            return id;
        }
    }

    public readonly long EncodedBytes => (long)Count * IdBytes;

    public readonly int Encode(Span<byte> to)
    {
        for (int i = 0; i < Count; i++)
            Unsafe.WriteUnaligned(ref to[i * IdBytes], this[i]);
        return (int)EncodedBytes; // of a span that held them
    }

    public static bool TryDecode(ReadOnlySpan<byte> from, out StreamIds ids)
    {
        ids = new StreamIds((byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)), from.Length / IdBytes);
        return from.Length % IdBytes == 0;
    }

    /// <summary>Ids that lie one behind the other, 16 bytes each.</summary>
    public static StreamIds At(byte* at, int count) => new(at, count);

    /// <summary>Those that were noted (<see cref="Claims.Note"/>); true until the queue changes.</summary>
    public static StreamIds Noted(in ByteQueue noted) => At(noted.Head, noted.Count / IdBytes);
}
