namespace Garnet.Types.Lists;

/// <summary>From which end of a list to which end of another an element goes.</summary>
public readonly record struct ListMove(bool FromLeft, bool ToLeft, ListLimits Limits);
