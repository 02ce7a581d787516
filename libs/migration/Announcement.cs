using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// Says to others that a run copies to a target, by the name of a connection, which is gone with the run. So one that stands still for minutes and
/// then goes on keeps another from beginning, whose keys it would write over. Where names and lists of clients are forbidden nothing is said.
/// </summary>
internal sealed class Announcement : IDisposable
{
    private const string NameHead = "garnet-migrate-copy-";
    private const int TriesMax = 20, BetweenTriesMs = 100; // the connection of one that was killed is gone soon

    private readonly ByteLink _link;

    private Announcement(ByteLink link) => _link = link;

    /// <summary>Whose the copy is.</summary>
    internal string Token { get; } = Guid.NewGuid().ToString("N");

    /// <summary>Throws if somebody else copies to that target.</summary>
    internal static Announcement Make(ServerAddress target, CancellationToken ends)
    {
        var made = new Announcement(ByteLink.Open(target));
        try
        {
            made._link.Call("CLIENT", "SETNAME", NameHead + made.Token); // before the others are looked for: of two, one sees the other
            for (int attempt = 1; made.Other() is { } other; attempt++)
            {
                if (attempt == TriesMax || ends.WaitHandle.WaitOne(BetweenTriesMs))
                    throw Taken(target, other);
            }
            return made;
        }
        catch
        {
            made.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _link.Dispose();

    // The id of another one's connection.
    private string? Other()
    {
        string[] clients = _link.Call("CLIENT", "LIST").Text.Split('\n');
        string? line = Array.Find(clients, client =>
            client.Contains(" name=" + NameHead, StringComparison.Ordinal) && !client.Contains(Token, StringComparison.Ordinal));
        return line?.Split(' ')[0].Replace("id=", "", StringComparison.Ordinal);
    }

    private static GarnetException Taken(ServerAddress target, string other) => new(ExitKind.Configuration,
        $"another migrate copies to {target}", $"the target has its connection, with the id {other}",
        $"Wait for its end, or end it; if it runs no more, CLIENT KILL ID {other} at the target ends the connection");
}
