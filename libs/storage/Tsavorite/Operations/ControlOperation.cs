using System.Buffers.Binary;

namespace Tsavorite;

/// <summary>
/// Operations on the whole store by their persisted number (golden list: op-ids.txt). They run with every partition
/// locked and stand in the log as batches of their own; arguments are database numbers, 32 bits, little endian.
/// </summary>
internal static class ControlOperation
{
    public const byte FlushDatabase = 12, SwapDatabases = 13, FlushAll = 14;

    public static bool Is(byte opId) => opId is FlushDatabase or SwapDatabases or FlushAll;

    public static byte[] Arguments(params ReadOnlySpan<int> databases)
    {
        byte[] bytes = new byte[databases.Length * sizeof(int)];
        for (int i = 0; i < databases.Length; i++) BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(i * sizeof(int)), databases[i]);
        return bytes;
    }

    /// <summary>Runs a logged operation again; false if the number or the arguments are not known.</summary>
    public static bool Apply(Store store, byte opId, ReadOnlySpan<byte> arguments)
    {
        int count = arguments.Length / sizeof(int);
        if (arguments.Length % sizeof(int) != 0 || count > 2)
            return false;
        int first = count > 0 ? BinaryPrimitives.ReadInt32LittleEndian(arguments) : 0;
        int second = count > 1 ? BinaryPrimitives.ReadInt32LittleEndian(arguments[sizeof(int)..]) : 0;
        if ((uint)first >= NamespaceTable.DatabasesMax || (uint)second >= NamespaceTable.DatabasesMax)
            return false;
        switch ((opId, count))
        {
            case (FlushDatabase, 1):
                store.Namespaces.Flush(first, wait: store.Namespaces.IsBehind);
                return true;
            case (SwapDatabases, 2):
                store.Namespaces.Swap(first, second);
                return true;
            case (FlushAll, 0):
                store.Namespaces.FlushAll(wait: store.Namespaces.IsBehind);
                return true;
            default:
                return false;
        }
    }
}
