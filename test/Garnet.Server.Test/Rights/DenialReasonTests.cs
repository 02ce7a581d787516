using Garnet.Server.Rights;

namespace Garnet.Server.Test.Rights;

/// <summary>The table of reasons knows every reason; that its texts are Redis's, transcripts and the differential tests show.</summary>
internal sealed class DenialReasonTests
{
    private static readonly DenialReason[] Theirs = [DenialReason.Command, DenialReason.Key, DenialReason.Auth, DenialReason.Channel, DenialReason.Database];

    [Test]
    public void Every_reason_has_a_row_with_a_rank_and_a_figure_of_its_own()
    {
        Assert.That(DenialReasons.All.Select(static row => row.Reason).Append(DenialReason.None), Is.EquivalentTo(Enum.GetValues<DenialReason>()));
        Assert.That(DenialReasons.All.Select(static row => row.Rank), Is.Unique);
        Assert.That(DenialReasons.All.Select(static row => row.Figure.Field), Is.Unique);
    }

    [Test]
    public void Refusals_of_every_reason_are_counted() =>
        Assert.That(Enum.GetValues<DenialReason>().Select(new DenialLog(static () => 1).CountOf), Has.All.Zero);

    // What others have is as they have it; whatever is ours ranks behind it, or somebody would be told otherwise than there.
    [Test]
    public void A_refusal_is_told_by_the_numbers_that_redis_gives_to_reasons() => Assert.That(
        DenialReasons.All.OrderBy(static row => row.Rank).Select(static row => row.Reason).Take(Theirs.Length), Is.EqualTo(Theirs));

    [Test]
    public void Whatever_a_command_is_refused_for_has_texts_that_no_other_has()
    {
        Assert.That(DenialReasons.All.Where(static row => row.Texts is null).Select(static row => row.Reason), Is.EqualTo(new[] { DenialReason.Auth }));
        DenialTexts[] all = [.. DenialReasons.All.Select(static row => row.Texts).OfType<DenialTexts>()];
        Assert.That(all.Select(static texts => texts.Reply("get")), Is.Unique);
        Assert.That(all.Select(static texts => texts.InScript), Is.Unique);
        Assert.That(all.Select(static texts => texts.AtExec), Is.Unique);
        Assert.That(all.Select(static texts => texts.Explained("get", "k")), Is.Unique);
    }
}
