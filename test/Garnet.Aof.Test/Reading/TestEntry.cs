using System.Buffers.Binary;
using System.Text;

namespace Garnet.Aof.Test.Reading;

/// <summary>A change as a test means it: of a key, or (with an operation on the whole store) of databases.</summary>
internal readonly record struct TestEntry(byte Operation, int Database, string Key, string Argument)
{
    public const byte Delete = 1, FlushDatabase = 12, SwapDatabases = 13, FlushAll = 14, Put = 200, Extend = 201;

    public bool IsControl => Operation is FlushDatabase or SwapDatabases or FlushAll;

    public int Lane(int lanes) => IsControl ? 0 : Key.Aggregate(17, static (sum, c) => (sum * 31 + c) & 0xFFFF) % lanes;

    public byte[] Arguments()
    {
        if (!IsControl) return Encoding.ASCII.GetBytes(Argument);
        int[] numbers = [.. Argument.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(int.Parse)];
        byte[] bytes = new byte[numbers.Length * sizeof(int)];
        for (int i = 0; i < numbers.Length; i++) BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(i * sizeof(int)), numbers[i]);
        return bytes;
    }
}
