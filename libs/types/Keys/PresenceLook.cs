using Tsavorite;

namespace Garnet.Types.Keys;

/// <summary>Whether a key is there, and no more: of a record on the tier its head is enough.</summary>
public struct PresenceLook : IRead
{
    /// <inheritdoc/>
    public static bool WantsValue => false;

    /// <inheritdoc/>
    public readonly void Look(in RecordView record)
    {
    }
}
