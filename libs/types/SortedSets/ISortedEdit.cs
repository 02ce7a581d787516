using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>An edit whose result depends on members that have expired and are not removed yet: if it meets any it changes nothing, and says so.</summary>
public interface ISortedEdit
{
    /// <summary>True if due members kept it from running.</summary>
    bool MetDue { get; set; }

    /// <summary>Removes those that would. The partition is locked by the session.</summary>
    void RemoveDue(StoreSession store, in KeyRef key);
}
