namespace Garnet.Server.Rights;

/// <summary>Names of the categories.</summary>
internal static class CategoryNames
{
    /// <summary>All of them in Redis's order; a category is called by its member's name in small letters.</summary>
    internal static readonly (CommandCategories Category, string Name)[] All = Named();

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

    private static (CommandCategories Category, string Name)[] Named()
    {
        IEnumerable<CommandCategories> all = Enum.GetValues<CommandCategories>().Where(static one => one != CommandCategories.None);
        return [.. all.Select(static one => (one, one.ToString().ToLowerInvariant()))];
    }
}
