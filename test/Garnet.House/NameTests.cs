using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Names of types and files.</summary>
public sealed class NameTests
{
    private static readonly string[] Banned =
        ["Manager", "Helper", "Helpers", "Util", "Utils", "Wrapper", "Impl", "Info", "Provider", "Processor", "Base"];

    [Test]
    public void Types_are_named_after_their_job() => AllowList.Judge("names", House.Sources
        .SelectMany(static file => file.All<BaseTypeDeclarationSyntax>().Where(static type => !IsCommand(type))
            .Select(type => (file, Name: type.Identifier.Text)))
        .Where(static type => Banned.Any(suffix => type.Name.EndsWith(suffix, StringComparison.Ordinal)))
        .Select(static type => new Finding($"{type.file.Path}:{type.Name}", "names no job; see CONTRIBUTING.md")));

    [Test]
    public void A_file_holds_one_public_type_and_is_named_after_it()
        => AllowList.Judge("one-type", House.Product.SelectMany(static file => PublicTypes(file)));

    [Test]
    public void Namespaces_follow_folders() => AllowList.Judge("namespaces", House.Product
        .SelectMany(static file => file.All<BaseNamespaceDeclarationSyntax>().Select(space => (file, Name: space.Name.ToString())))
        .Where(static found => !Fits(found.file.Path, found.Name))
        .Select(static found => new Finding(found.file.Path, $"namespace {found.Name} does not follow the folder")));

    private static IEnumerable<Finding> PublicTypes(SourceFile file)
    {
        string stem = Path.GetFileName(file.Path).Split('.')[0];
        string[] names = [.. file.All<MemberDeclarationSyntax>()
            .Where(static member => member is BaseTypeDeclarationSyntax or DelegateDeclarationSyntax)
            .Where(static member => member.Parent is BaseNamespaceDeclarationSyntax or CompilationUnitSyntax)
            .Where(static member => member.Modifiers.Any(SyntaxKind.PublicKeyword))
            .Select(static member => member is BaseTypeDeclarationSyntax type ? type.Identifier.Text : ((DelegateDeclarationSyntax)member).Identifier.Text)];
        if (names.Length > 1) yield return new Finding(file.Path, $"holds {string.Join(", ", names)}");
        else if (names.Length == 1 && names[0] != stem) yield return new Finding(file.Path, $"holds {names[0]}");
    }

    /// <summary>A command has its name from the protocol: INFO is Info.</summary>
    private static bool IsCommand(BaseTypeDeclarationSyntax type)
        => type.BaseList?.Types.Any(static contract => contract.Type.ToString() == "ICommand") == true;

    /// <summary>Each part of the namespace after the library's own name is a folder, in order; folders may be left out.</summary>
    private static bool Fits(string path, string name)
    {
        string[] folders = path.Split('/')[..^1];
        if (folders[0] == "main") return name.StartsWith("Garnet", StringComparison.Ordinal);
        string library = folders[1] == "storage" ? folders[2] : folders[1];
        string[] parts = name.Split('.');
        int own = parts[0] == "Garnet" ? 2 : 1;
        if (parts.Length < own || !parts[own - 1].Equals(library, StringComparison.OrdinalIgnoreCase)) return false;
        int at = Array.IndexOf(folders, library) + 1;
        foreach (string part in parts[own..])
        {
            at = Array.IndexOf(folders, part, at) + 1;
            if (at == 0) return false;
        }
        return true;
    }
}
