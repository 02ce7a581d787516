namespace Garnet.Server.Test;

/// <summary>Where the sources are.</summary>
internal static class Repository
{
    internal static string Root { get; } = FindRoot();

    private static string FindRoot()
    {
        string? folder = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(folder!, "Garnet.sln"))) folder = Path.GetDirectoryName(folder);
        return folder!;
    }
}
