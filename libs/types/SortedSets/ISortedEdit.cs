using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>An edit to which some members that are due, or all, would make a difference: it changes nothing and says so if there are such.</summary>
public interface ISortedEdit
{
    /// <summary>True if due members kept it from running.</summary>
    bool MetDue { get; set; }

    /// <summary>Removes those that would. The partition is locked by the session.</summary>
    void RemoveDue(StoreSession store, in KeyRef key);
}
