namespace Garnet.Host.Operate;

/// <summary>
/// Standard output for the answers of verbs: what cannot be written is an error. The console's own stream says nothing
/// when nobody reads any more, so that a watch would go on for ever behind <c>| head</c>.
/// </summary>
internal static class AnswerStream
{
    private const int StandardOutput = 1, Failed = 1;

    /// <summary>Runs what writes an answer; returns the exit code: 0 if it is true, else 1, also if it cannot be written.</summary>
    public static int Run(Func<TextWriter, bool> answer)
    {
        try
        {
            using Stream stream = OperatingSystem.IsLinux() ? new DescriptorStream(StandardOutput) : Console.OpenStandardOutput();
            using var output = new StreamWriter(stream) { AutoFlush = true };
            return answer(output) ? 0 : Failed;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return CannotWrite(e.Message);
        }
    }

    /// <summary>Says so where it can be said; returns the exit code.</summary>
    public static int CannotWrite(string why)
    {
        Console.Error.WriteLine($"garnet-server: the answer cannot be written: {why}");
        return Failed;
    }
}
