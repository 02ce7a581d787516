namespace Tsavorite;

/// <summary>What an <see cref="IModify"/> decided about the record it was shown.</summary>
public enum Verdict : byte
{
    /// <summary>Change nothing, log nothing; the call returns <see cref="Outcome.Unchanged"/>.</summary>
    Keep,

    /// <summary>Store the value that <see cref="IModify.Write"/> produces, with the fields set in <see cref="NewRecord"/>.</summary>
    Put,

    /// <summary>Keep the value bytes, change only expiry, ETag or kind as set in <see cref="NewRecord"/>.</summary>
    PutFields,

    /// <summary>Remove the record.</summary>
    Remove,
}
