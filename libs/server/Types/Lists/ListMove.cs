namespace Garnet.Server.Types.Lists;

/// <summary>From which end of a list to which end of another an element goes.</summary>
internal readonly record struct ListMove(bool FromLeft, bool ToLeft, ListLimits Limits);
