using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>
/// The verb <c>ping</c> (or <c>health</c>): asks the server that the same settings would start, for containers whose
/// image has no shell and no client. Healthy is a PONG within the limit, or a server that answers that it wants a password.
/// </summary>
internal static class HealthCheck
{
    public static bool Ask(ServerSettings settings, TextWriter output)
    {
        using var server = new ServerConnection(settings);
        try
        {
            string answer = AskAsync(server).WaitAsync(TimeSpan.FromMilliseconds(ServerConnection.LimitMs)).GetAwaiter().GetResult();
            output.WriteLine(answer);
            return answer.StartsWith("+PONG", StringComparison.Ordinal) || answer.StartsWith("-NOAUTH", StringComparison.Ordinal);
        }
        catch (Exception e) when (ServerConnection.IsSilence(e))
        {
            output.WriteLine($"{server.Target} does not answer: {e.Message}");
            return false;
        }
    }

    private static async Task<string> AskAsync(ServerConnection server) =>
        await server.Open().ConfigureAwait(false) ?? await server.Ping().ConfigureAwait(false);
}
