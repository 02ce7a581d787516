namespace Garnet.Server.Rights;

/// <summary>Names of the categories.</summary>
internal static class CategoryNames
{
    /// <summary>All of them in Redis's order; a category is called by its member's name in small letters.</summary>
    internal static readonly (CommandCategories Category, string Name)[] All = Named();

    // Not asked of the enumeration: that is by reflection, a millisecond of every start. A test compares them.
    private const string Names = "keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow "
        + "blocking dangerous connection transaction scripting bulk";

    /// <summary>The category of that name, in any case; none if there is none.</summary>
    internal static CommandCategories Find(string name)
    {
        foreach ((CommandCategories category, string its) in All)
        {
            if (its.Equals(name, StringComparison.OrdinalIgnoreCase))
                return category;
        }

        return CommandCategories.None;
    }

    /// <summary>The names of a set of them, in order.</summary>
    internal static IEnumerable<string> Of(CommandCategories categories) =>
        All.Where(one => (categories & one.Category) != 0).Select(static one => one.Name);

    // Without what is generic over them, which would be compiled at every start.
    private static (CommandCategories Category, string Name)[] Named()
    {
        string[] names = Names.Split(' ');
        var all = new (CommandCategories Category, string Name)[names.Length];
        for (int i = 0; i < all.Length; i++) all[i] = ((CommandCategories)(1u << i), names[i]);
        return all;
    }
}
