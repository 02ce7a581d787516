namespace Garnet.Host.Test;

/// <summary>A folder that goes away with the test.</summary>
internal sealed class TestFolder : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("garnet").FullName;

    public string Write(string name, string text)
    {
        string file = System.IO.Path.Combine(Path, name);
        File.WriteAllText(file, text);
        return file;
    }

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
