namespace Garnet.Common;

/// <summary>
/// The environment failed in a way that somebody has to fix: says what happened, why, and what to do next. Caught in
/// three kinds of place only: the connection loop, a background role, the host. Reasons often come from the system with a full stop, or without:
/// here none has one, whoever prints them sets it.
/// </summary>
public sealed class GarnetException(ExitKind kind, string what, string why, string next)
    : Exception(Shown($"{what}: {why.TrimEnd('.')}. {next.TrimEnd('.')}"))
{
    public ExitKind Kind { get; } = kind;
    public string What { get; } = Shown(what);
    public string Why { get; } = Shown(why.TrimEnd('.'));
    public string Next { get; } = Shown(next.TrimEnd('.'));

    // It quotes files and names that may be anything, and is shown on terminals: what has no shape is written as its number.
    private static string Shown(string text)
    {
        if (!text.Any(IsHidden))
            return text;
        return string.Concat(text.Select(static one => IsHidden(one) ? $"\\x{(int)one:x2}" : one.ToString()));
    }

    private static bool IsHidden(char one) => char.IsControl(one) && one != '\n';
}
