using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>One command: a struct that says what it is and what it does. Registered by its family, listed in <see cref="Families"/>.</summary>
internal interface ICommand
{
    /// <summary>Everything about the command that is data.</summary>
    static abstract CommandSpec Spec { get; }

    /// <summary>Runs the command; arity has been checked.</summary>
    static abstract Reply Run(ref Call call);
}
