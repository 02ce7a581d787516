using Garnet.Server.Base;
using Tsavorite;

namespace Garnet.Server.Tiering;

/// <summary>Trouble with the tier, as lines of the log: one when it begins and one when it ends.</summary>
internal sealed class TierLines(ServerLog log) : ITierObserver
{
    /// <inheritdoc/>
    public void OnReadFailed(string why, string remedy, long failures) => log.TierReadFailed(why, remedy, failures);

    /// <inheritdoc/>
    public void OnOwing(string? why)
    {
        if (why is null)
            log.TierAnswers();
        else
            log.TierAnswersNot(why);
    }

    /// <inheritdoc/>
    public void OnGivenUp(string why, long records) => log.TierGivenUp(why, records);

    /// <inheritdoc/>
    public void OnWriting(string? failure)
    {
        if (failure is null)
            log.TierWritesAgain();
        else
            log.TierWritesFail(failure);
    }

    /// <inheritdoc/>
    public void OnBudget(bool isSpent)
    {
        if (isSpent)
            log.TierBudgetSpent();
        else
            log.TierBudgetAgain();
    }

    /// <inheritdoc/>
    public void OnFull(bool isFull)
    {
        if (isFull)
            log.TierFull();
        else
            log.TierHasRoom();
    }
}
