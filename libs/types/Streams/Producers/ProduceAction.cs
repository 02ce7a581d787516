namespace Garnet.Types.Streams;

/// <summary>What is done about producers.</summary>
public enum ProduceAction : byte
{
    /// <summary>An entry is added unless it was before.</summary>
    Add,
    /// <summary>It was, and is only counted.</summary>
    Repeat,
    /// <summary>Limits are set.</summary>
    SetLimits,
}
