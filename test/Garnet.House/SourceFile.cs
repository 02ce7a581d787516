using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>One parsed source file.</summary>
internal sealed record SourceFile(string Path, string Text, CompilationUnitSyntax Unit)
{
    public int Lines => Text.AsSpan().Count('\n');

    public bool IsIn(string folder) => Path.StartsWith(folder + "/", StringComparison.Ordinal);

    public IEnumerable<T> All<T>() where T : SyntaxNode => Unit.DescendantNodes().OfType<T>();

    public int LineOf(SyntaxNode node) => node.GetLocation().GetLineSpan().StartLinePosition.Line + 1;
}
