namespace Garnet.Migration;

/// <summary>Takes what an <see cref="RdbReader"/> reads. What it is given is the reader's again afterwards.</summary>
internal interface IRdbTaker
{
    /// <summary>The text of a library of functions.</summary>
    void TakeFunction(ReadOnlySpan<byte> source);

    /// <summary>A key: its database, its name, when it expires in Unix milliseconds (0: never), and what RESTORE wants.</summary>
    void TakeKey(int database, byte[] key, long expireAtMs, ReadOnlySpan<byte> payload);
}
