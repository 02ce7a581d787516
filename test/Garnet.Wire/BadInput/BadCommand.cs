namespace Garnet.Wire.BadInput;

/// <summary>A command that must be answered, and the answer: none means as the reference answers, <c>?*</c> with anything.</summary>
internal sealed record BadCommand(int Row, string Name, string[] Words, string? Reply = null)
{
    /// <summary>Commands sent before it, whose answers do not matter.</summary>
    public string[][] Before { get; init; } = [];

    /// <summary>It tells how much time is left: as the reference answers a moment before or behind it.</summary>
    public bool GoesByTheClock { get; init; }

    public override string ToString() => $"row {Row}, {Name}";
}
