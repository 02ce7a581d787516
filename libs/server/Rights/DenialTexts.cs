namespace Garnet.Server.Rights;

/// <summary>What somebody is told who was refused a command, in Redis's words, by who asked.</summary>
internal sealed record DenialTexts
{
    /// <summary>To a client, by the command's name; behind NOPERM.</summary>
    internal required Func<string, string> Reply { get; init; }

    /// <summary>To a script; behind ERR.</summary>
    internal required string InScript { get; init; }

    /// <summary>Of a command of a transaction that was still allowed when it was queued.</summary>
    internal required string AtExec { get; init; }

    /// <summary>By ACL DRYRUN, by the command's name and the argument that was refused.</summary>
    internal required Func<string, string, string> Explained { get; init; }
}
