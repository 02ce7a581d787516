using NUnit.Framework;

namespace Garnet.Wire;

[TestFixture]
internal sealed class TranscriptTests
{
    private static IEnumerable<string> Names() => Transcript.Names();

    [TestCaseSource(nameof(Names))]
    public void Ours_answers_as_written(string name) => Play(name, ServerSide.Ours, Sending.Whole);

    [TestCaseSource(nameof(Names))]
    public void Ours_answers_the_same_when_every_byte_comes_alone(string name) => Play(name, ServerSide.Ours, Sending.Split);

    [TestCaseSource(nameof(Names))]
    public void The_reference_answers_as_written(string name) => Play(name, ServerSide.Redis, Sending.Whole);

    /// <summary>Fills in the replies of the reference below requests that have none yet, in the source folder.</summary>
    [Test, Explicit("writes the transcripts")]
    public void Record()
    {
        string folder = Path.Combine(Repository.Root, "test/Garnet.Wire/transcripts");
        foreach (string file in Directory.EnumerateFiles(folder, "*.txt", SearchOption.AllDirectories).Order(StringComparer.Ordinal))
            TranscriptRecorder.Record(file, Servers.Redis.Address);
    }

    private static void Play(string name, ServerSide side, Sending sending)
    {
        using TranscriptRun run = new(Transcript.Load(name), side, Servers.Of(side).Address, sending);
        string? difference = run.Play();
        Assert.That(difference, Is.Null, difference);
    }
}
