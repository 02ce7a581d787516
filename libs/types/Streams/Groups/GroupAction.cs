namespace Garnet.Types.Streams;

/// <summary>What is done to a group.</summary>
public enum GroupAction : byte
{
    Create,
    SetId,
    Destroy,
    AddConsumer,
    RemoveConsumer,
}
