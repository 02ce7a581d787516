namespace Garnet.House;

/// <summary>Something a rule objects to. For a size, <paramref name="Size"/> is what was measured and the limit is in the text.</summary>
internal readonly record struct Finding(string Subject, string Text, int Size = 0);
