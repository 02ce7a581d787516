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

    /// <summary>
    /// The same for those commands that pass the rules anyway (transactions, scripts, timed ones, and all of them where one of the others is filled), asked once <see cref="Residency"/>
    /// allows them: keys are fetched ahead for them. A plain command finds out by itself what is not at hand, and is put off, so that it pays nothing while all is.
    /// </summary>
    internal IKeyRule? Ahead { get; init; }

    /// <summary>True if every command is asked about.</summary>
    internal bool Any => Permission is not null || Ownership is not null || Residency is not null;
}
