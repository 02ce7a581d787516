using Garnet.Common;
using Garnet.Server;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Every setting tells an operator what it is.</summary>
public sealed class SettingTests
{
    [Test]
    public void Every_setting_has_help_unit_and_bounds() => AllowList.Judge("settings", Table().All.Select(static setting =>
    {
        SettingAttribute declared = setting.Declared;
        bool number = setting.Kind == SettingKind.Number && declared.Note.Length == 0 && declared.Only is null;
        string text = "";
        if (!declared.Help.EndsWith('.')) text += "help is not a sentence; ";
        if (declared.Help.Contains('|') || declared.Help.Contains('\n')) text += "help does not fit into a table; ";
        if (number && declared.Unit == SettingUnit.None) text += "a number needs a unit; ";
        if (number && declared.Min == long.MinValue) text += "a number needs bounds; ";
        if (declared.Only is not null && declared.Why.Length == 0) text += "a refusal needs a reason; ";
        if (setting.Name.Any(char.IsUpper)) text += "names are lower case; ";
        return new Finding(setting.Name, text);
    }).Where(static finding => finding.Text.Length > 0));

    [Test]
    public void Every_default_is_a_value_the_setting_accepts() => AllowList.Judge("defaults", Table().All.Select(static setting =>
    {
        string? refusal = Table().SetAtStart(setting.Name, setting.Default, SettingSource.CommandLine, "test");
        return new Finding(setting.Name, refusal is null ? "" : $"refuses its default '{setting.Default}': {refusal}");
    }).Where(static finding => finding.Text.Length > 0));

    /// <summary>The property itself, not one that has its name: what is only written to is not read.</summary>
    [Test]
    public void Every_setting_is_read_or_says_that_it_has_no_effect()
    {
        ISymbol[] settings = [.. Library.SelectMany(static file => file.All<PropertyDeclarationSyntax>().Where(HasEffect).Select(property => ModelOf(file).GetDeclaredSymbol(property)!))];
        HashSet<string> names = [.. settings.Select(static setting => setting.Name)];
        var read = Library.AsParallel().SelectMany(file => file.All<IdentifierNameSyntax>()
                .Where(name => names.Contains(name.Identifier.ValueText) && !IsWritten(name)).Select(name => ModelOf(file).GetSymbolInfo(name).Symbol))
            .OfType<IPropertySymbol>().ToHashSet<ISymbol>(SymbolEqualityComparer.Default);
        AllowList.Judge("settings-read", settings.Where(setting => !read.Contains(setting))
            .Select(static setting => new Finding(setting.Name, "is read by nobody, and has no Note that says so")));
    }

    private static IEnumerable<SourceFile> Library => House.Sources.Where(static file => file.IsIn("libs"));

    private static SemanticModel ModelOf(SourceFile file) => House.Libraries.GetSemanticModel(file.Unit.SyntaxTree);

    private static bool HasEffect(PropertyDeclarationSyntax property) => property.AttributeLists.SelectMany(static list => list.Attributes).Any(static attribute =>
        attribute.Name.ToString() == "Setting" && !attribute.ArgumentList!.Arguments.Any(static argument => argument.NameEquals?.Name.Identifier.ValueText is "Note" or "Only"));

    private static bool IsWritten(IdentifierNameSyntax name)
    {
        ExpressionSyntax whole = name.Parent is MemberAccessExpressionSyntax access && access.Name == name ? access : name;
        return whole.Parent is AssignmentExpressionSyntax assignment && assignment.Left == whole;
    }

    private static SettingTable Table()
    {
        var table = new SettingTable();
        new ServerSettings().Register(table);
        return table;
    }
}
