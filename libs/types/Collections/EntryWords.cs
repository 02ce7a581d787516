namespace Garnet.Types.Collections;

/// <summary>How the commands on single entries with an expiry speak of a type: its shape, the word before its entries, what they answer to bad arguments.</summary>
public sealed record EntryWords(MemberShape Shape, byte[] Word, byte[] Missing, byte[] BadNumber, byte[] BadAskedNumber, byte[] Mismatch)
{
    public static readonly EntryWords Hash = new(
        MemberShape.Hash, "FIELDS"u8.ToArray(),
        "ERR Mandatory argument FIELDS is missing or not at the right position"u8.ToArray(),
        "ERR Parameter `numFields` should be greater than 0"u8.ToArray(),
        "ERR Number of fields must be a positive integer"u8.ToArray(),
        "ERR The `numfields` parameter must match the number of arguments"u8.ToArray());

    // Both kinds of numbers that are none are told the same.
    private static readonly byte[] BadMembers = "ERR Parameter `numMembers` should be greater than 0"u8.ToArray();

    public static readonly EntryWords SortedSet = new(
        MemberShape.SortedSet, "MEMBERS"u8.ToArray(),
        "ERR Mandatory argument MEMBERS is missing or not at the right position"u8.ToArray(),
        BadMembers,
        BadMembers,
        "ERR The `numMembers` parameter must match the number of arguments"u8.ToArray());
}
