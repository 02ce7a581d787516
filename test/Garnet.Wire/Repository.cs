namespace Garnet.Wire;

/// <summary>Where the checkout lies, found from the test assembly upward.</summary>
internal static class Repository
{
    public static string Root { get; } = Find();

    private static string Find()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
            if (File.Exists(Path.Combine(folder.FullName, "Garnet.sln"))) return folder.FullName;
        throw new DirectoryNotFoundException("no folder above the tests holds Garnet.sln");
    }
}
