using System.Diagnostics;
using System.Net;
using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>What a running server answered when it was asked how it is, or why it did not.</summary>
/// <param name="Target">Where it was asked.</param>
/// <param name="Info">Its answer; null if there is none.</param>
/// <param name="PingMs">How long a PING took.</param>
/// <param name="Refusal">Why there is no answer: a sentence, and the next step.</param>
internal sealed record ServerAnswer(EndPoint Target, InfoReply? Info, double PingMs, string Refusal)
{
    /// <summary>Asks the server that the settings would start. Not being answered is an answer too.</summary>
    public static ServerAnswer Of(ServerSettings settings)
    {
        using var server = new ServerConnection(settings);
        try
        {
            return Ask(server).WaitAsync(TimeSpan.FromMilliseconds(ServerConnection.LimitMs)).GetAwaiter().GetResult();
        }
        catch (Exception e) when (ServerConnection.IsSilence(e))
        {
            return new(server.Target, null, 0, $"it does not answer: {e.Message}. "
                + "Is it started, and is this its address? --port, --bind and --unixsocket name another");
        }
    }

    private static async Task<ServerAnswer> Ask(ServerConnection server)
    {
        if (await server.Open().ConfigureAwait(false) is { } refused)
            return new(server.Target, null, 0, "it refuses the password: " + InfoReply.Printable(refused[1..]).TrimEnd('.'));
        await server.Ping().ConfigureAwait(false); // warms up: the first one pays one-time costs on both sides
        long began = Stopwatch.GetTimestamp();
        await server.Ping().ConfigureAwait(false);
        double pingMs = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        string info = await server.Info().ConfigureAwait(false);
        if (info is not ['-', .. string error])
        {
            InfoReply reply = new(info);
            return reply.Text("garnet_version").Length > 0 ? new(server.Target, reply, pingMs, "")
                : new(server.Target, null, 0, "it is no Garnet server: its answer to INFO has no garnet_version");
        }
        string next = error.StartsWith("NOAUTH", StringComparison.Ordinal)
            ? ". Give it the password: GARNET_REQUIREPASS, or the server's configuration file" : "";
        return new(server.Target, null, pingMs, $"it refuses INFO: {InfoReply.Printable(error).TrimEnd('.')}{next}");
    }
}
