namespace Tsavorite;

/// <summary>
/// Told what people should know of a tier. Called by whoever has met it, a thread that serves clients among them, and perhaps with a lock held: it may
/// only note it and return.
/// </summary>
public interface ITierObserver
{
    /// <summary>A record could not be read, and what is to be done about it; so many could not be read until now. Not called for each of many.</summary>
    void OnReadFailed(string why, string remedy, long failures);

    /// <summary>A device has not answered a read in time, and which; null: it owes none any more.</summary>
    void OnOwing(string? why);

    /// <summary>A damaged record was given up, as a command has set or removed the key whose hash it had; so many were until now. Not called for each of many.</summary>
    void OnGivenUp(string why, long records);

    /// <summary>The medium does not take writes, and why; null: it takes them again.</summary>
    void OnWriting(string? failure);

    /// <summary>As much was written to it as may be, and for longer than a moment nothing more is; false: it goes on.</summary>
    void OnBudget(bool isSpent);

    /// <summary>There is no room on it for what should leave memory, or there is again.</summary>
    void OnFull(bool isFull);
}
