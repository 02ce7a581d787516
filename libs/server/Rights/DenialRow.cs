namespace Garnet.Server.Rights;

/// <summary>All about one reason to refuse somebody. A row of <see cref="DenialReasons"/>.</summary>
/// <param name="Reason">The reason.</param>
/// <param name="Rank">Which of several refusals of one command is told: the highest.</param>
/// <param name="Texts">What is told; null where no command is refused for it.</param>
/// <param name="Figure">How often it happened.</param>
internal sealed record DenialRow(DenialReason Reason, int Rank, DenialTexts? Texts, DenialFigure Figure);
