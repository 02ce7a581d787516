using Garnet.Server.Commands;
using Garnet.Server.Types.Collections;

namespace Garnet.Server.Types.Hashes;

/// <summary>FIELDS, their number, and the fields: the end of the commands on fields with an expiry.</summary>
internal readonly unsafe struct FieldList
{
    private readonly int _first;

    private FieldList(int first, int count)
    {
        _first = first;
        Count = count;
    }

    internal int Count { get; }

    internal Operands Of(ref Call call) => new(call.Args + _first, Count);

    /// <summary>Reads the list at a place, to the end of the command; on false the error has been written.</summary>
    internal static bool TryRead(ref Call call, int at, ReadOnlySpan<byte> badNumber, out FieldList fields, out Reply failed)
    {
        fields = default;
        failed = Reply.Sent;
        if (at + 1 >= call.Count || !call.Is(at, "FIELDS"u8))
            failed = call.FailBytes("ERR Mandatory argument FIELDS is missing or not at the right position"u8);
        else if (!call.TryInt64(at + 1, out long count) || count is < 1 or > int.MaxValue)
            failed = call.FailBytes(badNumber);
        else if (count != call.Count - at - 2)
            failed = call.FailBytes("ERR The `numfields` parameter must match the number of arguments"u8);
        else
            fields = new FieldList(at + 2, (int)count);
        return failed == Reply.Sent;
    }
}
