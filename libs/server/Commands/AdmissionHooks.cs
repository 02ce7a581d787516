namespace Garnet.Server.Commands;

/// <summary>Who else is asked; null = everything is allowed. Replaced as a whole, at any time; each reactor asks from its next round on.</summary>
internal sealed class AdmissionHooks
{
    /// <summary>Rights of users.</summary>
    internal IPermission? Permission { get; init; }

    /// <summary>Which keys are this server's.</summary>
    internal IKeyRule? Ownership { get; init; }

    /// <summary>Which keys are at hand; the others are fetched while their command waits.</summary>
    internal IKeyRule? Residency { get; init; }

    /// <summary>True if every command is asked about. Of keys that are not at hand a plain command finds out by itself, and is put off.</summary>
    internal bool Any => Permission is not null || Ownership is not null;
}
