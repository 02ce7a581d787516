namespace Garnet.Server.Families.Scripting.Functions;

/// <summary>All libraries, as one state has loaded them, and the mark of the stored text they come from.</summary>
internal sealed class FunctionSet(Guid mark, IReadOnlyList<FunctionLibrary> libraries)
{
    private readonly Dictionary<string, Function> _functions = Index(libraries);

    internal static readonly FunctionSet Empty = new(Guid.Empty, []);

    internal Guid Mark => mark;

    internal IReadOnlyList<FunctionLibrary> Libraries => libraries;

    internal int Count => _functions.Count;

    internal long MemoryBytes { get; } = libraries.Sum(static library => (long)library.Source.Length);

    internal Function? Find(string name) => _functions.GetValueOrDefault(name);

    internal FunctionLibrary? Library(string name) => libraries.FirstOrDefault(library => library.Name == name);

    private static Dictionary<string, Function> Index(IReadOnlyList<FunctionLibrary> libraries)
    {
        var functions = new Dictionary<string, Function>(StringComparer.OrdinalIgnoreCase);
        foreach (Function function in libraries.SelectMany(static library => library.Functions))
            functions.TryAdd(function.Name, function);
        return functions;
    }
}
