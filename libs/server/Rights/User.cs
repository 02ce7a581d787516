namespace Garnet.Server.Rights;

/// <summary>A user: a name, and rights that may change at any time (rights.R1). Connections refer to him, rules bind them at once.</summary>
internal sealed class User(string name, UserRights rights)
{
    private UserRights _rights = rights;
    private volatile bool _isGone;

    /// <summary>The name, a character for a byte.</summary>
    internal string Name { get; } = name;

    /// <summary>The rights of now.</summary>
    internal UserRights Rights
    {
        get => Volatile.Read(ref _rights);
        set => Volatile.Write(ref _rights, value);
    }

    /// <summary>True once the user is no more: whoever was him is closed.</summary>
    internal bool IsGone
    {
        get => _isGone;
        set => _isGone = value;
    }

    /// <summary>As in a file.</summary>
    public override string ToString() => $"user {Name} {Rights}";
}
