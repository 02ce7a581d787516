namespace Garnet.Host.Operate;

/// <summary>
/// Something an operator should know: what is so, why it matters, and what mends it. <see cref="IsTrouble"/>: the server does not do, or will
/// soon not do, what it is there for; else it is advice.
/// </summary>
internal sealed record Finding(bool IsTrouble, string What, string Why, string Next);
