namespace Garnet.Common;

/// <summary>
/// The environment failed in a way that somebody has to fix: says what happened, why, and what to do next. Caught in
/// three kinds of place only: the connection loop, a background role, the host. Reasons often come from the system with a full stop, or without:
/// here none has one, whoever prints them sets it.
/// </summary>
public sealed class GarnetException(ExitKind kind, string what, string why, string next)
    : Exception($"{what}: {why.TrimEnd('.')}. {next.TrimEnd('.')}")
{
    public ExitKind Kind { get; } = kind;
    public string What { get; } = what;
    public string Why { get; } = why.TrimEnd('.');
    public string Next { get; } = next.TrimEnd('.');
}
