namespace Garnet.Types.Streams;

/// <summary>An edit that may add an entry.</summary>
public interface IAdds
{
    /// <summary>It did, if it is done.</summary>
    bool HasAdded { get; }
}
