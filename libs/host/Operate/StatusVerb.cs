using System.Runtime.InteropServices;
using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>The verb <c>status</c>: how the server is that the same settings would start, once or each two seconds.</summary>
internal static class StatusVerb
{
    private const string ClearScreen = "\e[H\e[2J";
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(2);

    /// <summary>True if the server answers and is not in trouble, the last time that it was asked.</summary>
    public static bool Run(ServerSettings settings, bool asJson, bool watches, TextWriter output)
    {
        using var ends = new ManualResetEventSlim();
        using PosixSignalRegistration interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, context =>
        {
            context.Cancel = true;
            ends.Set();
        });
        while (true)
        {
            bool isWell = Once(settings, asJson, clears: watches && !asJson && !Console.IsOutputRedirected, output);
            if (!watches || ends.Wait(Pause))
                return isWell;
        }
    }

    private static bool Once(ServerSettings settings, bool asJson, bool clears, TextWriter output)
    {
        ServerAnswer answer = ServerAnswer.Of(settings);
        string start = clears ? ClearScreen : "";
        if (answer.Info is null)
        {
            output.WriteLine(start + (asJson ? StatusScreen.NoAnswer(answer) : $"{answer.Target}  {answer.Refusal}."));
            return false;
        }
        StatusScreen screen = new(answer.Target, answer.Info, answer.PingMs, [.. ServerTroubles.Of(answer.Info, DateTimeOffset.UtcNow)]);
        output.WriteLine(start + (asJson ? screen.Json() : string.Join(output.NewLine, screen.Lines())));
        return screen.IsHealthy;
    }
}
