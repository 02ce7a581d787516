using System.Runtime.InteropServices;
using Garnet.Common.Resp;

namespace Garnet.Server.Clients;

/// <summary>The head of a command in a <see cref="CommandQueue"/>; behind it the lengths of its arguments, 32 bits each, then their bytes.</summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct QueuedCommand
{
    /// <summary>Hash of the first key's bytes, as its frame had it.</summary>
    public ulong KeyHash;
    /// <summary>Bytes of the whole, a multiple of 8.</summary>
    public long Bytes;
    /// <summary>Number in the command table.</summary>
    public int Command;
    /// <summary>Arguments, name included.</summary>
    public int ArgCount;

    /// <summary>The lengths of the arguments.</summary>
    public static int* Lengths(QueuedCommand* command) => (int*)(command + 1);

    /// <summary>The command behind it.</summary>
    public static QueuedCommand* Next(QueuedCommand* command) => (QueuedCommand*)((byte*)command + command->Bytes);

    /// <summary>Puts the arguments into the list, in place of what is there.</summary>
    public static void Unpack(QueuedCommand* command, ArgList to)
    {
        to.Clear();
        int* lengths = Lengths(command);
        byte* at = (byte*)(lengths + command->ArgCount);
        for (int i = 0; i < command->ArgCount; i++)
        {
            to.Add(at, lengths[i]);
            at += lengths[i];
        }
    }
}
