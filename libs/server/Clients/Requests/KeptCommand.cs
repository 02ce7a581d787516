using Garnet.Common.Resp;

namespace Garnet.Server.Clients;

/// <summary>A copy of a command with its arguments, for those who ask about it when what was received is gone. Never changes.</summary>
internal sealed unsafe class KeptCommand
{
    private readonly byte[] _bytes;
    private readonly int[] _lengths;

    internal KeptCommand(int command, Arg* args, int count)
    {
        Command = command;
        _lengths = new int[count];
        long bytes = RespLimits.ReadableSlack;
        for (int i = 0; i < count; i++)
            bytes += _lengths[i] = args[i].Length;
        _bytes = new byte[bytes];
        int at = 0;
        for (int i = 0; i < count; at += _lengths[i++])
            new ReadOnlySpan<byte>(args[i].Bytes, _lengths[i]).CopyTo(_bytes.AsSpan(at));
    }

    /// <summary>Number in the command table.</summary>
    internal int Command { get; }

    /// <summary>Arguments, name included.</summary>
    internal int Count => _lengths.Length;

    /// <summary>The bytes of all arguments; must not move while <see cref="Unpack"/>'s result is used.</summary>
    internal ref readonly byte Bytes => ref _bytes[0];

    /// <summary>Says where each argument lies, the bytes beginning at <paramref name="at"/>.</summary>
    internal void Unpack(byte* at, Span<Arg> to)
    {
        for (int i = 0; i < _lengths.Length; at += _lengths[i++])
            to[i] = new Arg { Bytes = at, Length = _lengths[i] };
    }
}
