namespace Garnet.Media;

/// <summary>A read that has come to its end: the token it was begun with, and the bytes read or, negative, the error number (errno(3)).</summary>
public readonly record struct FinishedRead(ulong Token, int Result);
