using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>How code lies on the page. What an if decides is counted per library: a library's number is written down smaller whenever it shrinks.</summary>
public sealed class StyleTests
{
    private const int ColumnsMax = 140;

    [Test]
    public void What_an_if_decides_stands_on_a_line_of_its_own() => AllowList.Judge("if-lines", PerLibrary(static file => file.All<IfStatementSyntax>()
        .Where(branch => branch.Statement is not BlockSyntax && file.LineOf(branch.Statement) == file.LineOf(branch)).Select(file.LineOf)));

    /// <summary>Comments, attributes of one line and the rows of the command table may be longer: they are read as texts and as tables.</summary>
    [Test]
    public void Lines_of_code_fit_on_the_page() => AllowList.Judge("columns", House.Product.SelectMany(static file => file.Text.Split('\n')
        .Select(static (line, at) => (Text: line, Number: at + 1))
        .Where(static line => line.Text.Length > ColumnsMax && !IsText(line.Text.TrimStart()) && !IsRow(line.Text))
        .Select(line => new Finding($"{file.Path}:{line.Number}", $"{line.Text.Length} columns, at most {ColumnsMax}: break it behind a comma or before an operator"))));

    private static bool IsText(string line) => line.StartsWith("//", StringComparison.Ordinal) || (line.StartsWith('[') && line.EndsWith(']'));

    private static bool IsRow(string line) => line.Contains("CommandSpec Spec =>", StringComparison.Ordinal);

    private static IEnumerable<Finding> PerLibrary(Func<SourceFile, IEnumerable<int>> lines) => House.Product
        .SelectMany(file => lines(file).Select(line => (Library: LibraryOf(file.Path), Place: $"{file.Path}:{line}")))
        .GroupBy(static found => found.Library, static found => found.Place)
        .Select(static found => new Finding(found.Key, $"{found.Count()} lines: {string.Join(", ", found.Take(20))}", found.Count()));

    private static string LibraryOf(string path) => string.Join('/', path.Split('/').Take(path.StartsWith("libs/storage/", StringComparison.Ordinal) ? 3 : 2));
}
