namespace Garnet.Admin.Test;

/// <summary>A folder that goes with the test.</summary>
internal sealed class TemporaryFolder : IDisposable
{
    internal string Path { get; } = Directory.CreateTempSubdirectory("garnet-admin-").FullName;

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
