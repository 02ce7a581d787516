using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;

namespace Garnet.Server.Families.Collections;

/// <summary>The last arguments of commands such as HEXPIRE: the word FIELDS or MEMBERS, how many follow, and these.</summary>
internal readonly unsafe struct EntryList
{
    private readonly int _first;

    private EntryList(int first, int count)
    {
        _first = first;
        Count = count;
    }

    internal int Count { get; }

    internal Operands Of(ref Call call) => new(call.Args + _first, Count);

    /// <summary>Reads the list at a place, to the end of the command; on false the error has been written.</summary>
    internal static bool TryRead(
        ref Call call, EntryWords words, int at, ReadOnlySpan<byte> badNumber, out EntryList entries, out Reply failed)
    {
        entries = default;
        failed = Reply.Sent;
        if (at + 1 >= call.Count || !call.Is(at, words.Word))
            failed = call.FailBytes(words.Missing);
        else if (!call.TryInt64(at + 1, out long count) || count is < 1 or > int.MaxValue)
            failed = call.FailBytes(badNumber);
        else if (count != call.Count - at - 2)
            failed = call.FailBytes(words.Mismatch);
        else
            entries = new EntryList(at + 2, (int)count);
        return failed == Reply.Sent;
    }
}
