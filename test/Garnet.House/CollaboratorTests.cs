using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>
/// How many types of ours one type works with, all its parts together: whoever works with many knows too much. Counted are classes, structs,
/// interfaces and delegates of the libraries that its code names, or of which it uses a member. Not counted are enums and static classes, which
/// are nobody to work with, its own nested types, and types that stand in the same file: these are parts of one thing, as the commands of a
/// family are of the file that registers them.
/// </summary>
public sealed class CollaboratorTests
{
    private const int CollaboratorsMax = 25;

    [Test]
    public void Types_work_with_few_others() => AllowList.Judge("collaborators", Counted()
        .Where(static found => found.Others.Length > CollaboratorsMax)
        .Select(static found => new Finding(found.Type, $"limit {CollaboratorsMax}: {string.Join(", ", found.Others)}", found.Others.Length)));

    private static IEnumerable<(string Type, string[] Others)> Counted()
    {
        return House.Libraries.SyntaxTrees.AsParallel().SelectMany(static tree => Uses(House.Libraries.GetSemanticModel(tree)))
            .GroupBy(static use => use.Type, SymbolEqualityComparer.Default)
            .Select(static uses => (uses.Key!.ToDisplayString(), uses.Select(static use => use.Other.Name).Distinct().Order(StringComparer.Ordinal).ToArray())).ToArray();
    }

    private static IEnumerable<(INamedTypeSymbol Type, INamedTypeSymbol Other)> Uses(SemanticModel model)
    {
        foreach (TypeDeclarationSyntax declared in model.SyntaxTree.GetRoot().DescendantNodes().OfType<TypeDeclarationSyntax>().Where(static type => type.Parent is not TypeDeclarationSyntax))
        {
            var type = (INamedTypeSymbol)model.GetDeclaredSymbol(declared)!;
            foreach (SyntaxNode node in declared.DescendantNodes())
            {
                if ((node is SimpleNameSyntax or ImplicitObjectCreationExpressionSyntax) && Other(model.GetSymbolInfo(node).Symbol, type) is { } other)
                    yield return (type, other);
            }
        }
    }

    // The type that a name stands for, or the one that has the member.
    private static INamedTypeSymbol? Other(ISymbol? symbol, INamedTypeSymbol own)
    {
        INamedTypeSymbol? type = symbol as INamedTypeSymbol ?? symbol?.ContainingType;
        while (type?.ContainingType is { } outer)
            type = outer;
        type = type?.OriginalDefinition;
        bool counts = type is { TypeKind: TypeKind.Class or TypeKind.Struct or TypeKind.Interface or TypeKind.Delegate, IsStatic: false }
            && type.Locations.Any(static place => place.IsInSource) && !type.Locations.Any(place => own.Locations.Any(here => here.SourceTree == place.SourceTree));
        return counts ? type : null;
    }
}
