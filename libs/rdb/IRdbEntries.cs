using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// Takes what the entries of an RDB file tell, one after the other. What it is given is valid during the call; what it answers is why it cannot take it, null if it has.
/// </summary>
public interface IRdbEntries
{
    /// <summary>Keys behind it are of this database.</summary>
    string? Select(ulong database);

    /// <summary>A key, behind whose name lie bytes that can be read, and its value; 0 = it never expires.</summary>
    string? Take(Arg key, RdbValue value, long expireAtMs);

    /// <summary>A member of the last key expires.</summary>
    string? TakeMemberTime(Arg member, long expireAtMs);

    /// <summary>The text of a library of functions.</summary>
    void TakeFunction(ReadOnlySpan<byte> source);

    /// <summary>Data of a module were passed over.</summary>
    void PassModule();
}
