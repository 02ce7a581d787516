using System.Globalization;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>Commands are registered and have transcripts; persisted operation numbers never change.</summary>
public sealed class CommandTests
{
    private const string Transcripts = "test/Garnet.Wire/transcripts", Golden = "test/golden/op-ids.txt";

    [Test]
    public void Every_command_is_registered()
    {
        var registered = House.Product.SelectMany(static file => file.All<GenericNameSyntax>())
            .Where(static name => name.Identifier.Text is "Add" or "Command" && name.TypeArgumentList.Arguments.Count == 1)
            .Select(static name => name.TypeArgumentList.Arguments[0].ToString()).ToHashSet();
        AllowList.Judge("registered", Structs("ICommand").Where(command => !registered.Contains(command.Type.Identifier.Text))
            .Select(static command => new Finding(command.Type.Identifier.Text, $"in {command.File.Path} is not registered by its family")));
    }

    [Test]
    public void Every_command_has_a_transcript()
    {
        var present = House.Files(Transcripts, ".txt").Select(static path => Path.GetFileNameWithoutExtension(path)!)
            .ToHashSet(StringComparer.OrdinalIgnoreCase);
        if (present.Count == 0) Assert.Ignore($"there are no transcripts in {Transcripts} yet");
        AllowList.Judge("transcript", Structs("ICommand").Select(static command => CommandName(command.Type)).OfType<string>()
            .Where(name => !present.Contains(name.Replace('|', '-')) && !present.Contains(name.Split('|')[0]))
            .Select(static name => new Finding(name, $"has no transcript {name.Replace('|', '-')}.txt under {Transcripts}")));
    }

    [Test]
    public void Operation_numbers_are_the_golden_ones()
    {
        string[] found = [.. Structs("IModify").Concat(Structs("IEdit")).Where(static op => op.File.IsIn("libs"))
            .Select(static op => (Id: OpId(op.Type), Name: op.Type.Identifier.Text))
            .Concat(ControlOperations()).Where(static op => op.Id >= 0).OrderBy(static op => op.Id)
            .Select(static op => string.Create(CultureInfo.InvariantCulture, $"{op.Id} {op.Name}"))];
        string[] golden = House.Has(Golden)
            ? [.. House.Text(Golden).Split('\n').Where(static line => line.Length > 0 && line[0] != '#')]
            : [];
        Assert.That(found.Select(static line => line.Split(' ')[0]), Is.Unique, "two operations share a number");
        Assert.That(found, Is.EquivalentTo(golden), $"{Golden} must hold 'number name' of every operation; numbers are never reused");
    }

    // Operations on the whole store are named by the byte constants of one class.
    private static IEnumerable<(int Id, string Name)> ControlOperations() => House.Product
        .SelectMany(static file => file.All<ClassDeclarationSyntax>()).Where(static type => type.Identifier.Text == "ControlOperation")
        .SelectMany(static type => type.Members.OfType<FieldDeclarationSyntax>()).SelectMany(static field => field.Declaration.Variables)
        .Select(static constant => ((constant.Initializer?.Value as LiteralExpressionSyntax)?.Token.Value is int id ? id : -1, constant.Identifier.Text));

    private static IEnumerable<(SourceFile File, StructDeclarationSyntax Type)> Structs(string contract) => House.Product
        .SelectMany(static file => file.All<StructDeclarationSyntax>().Select(type => (file, type)))
        .Where(found => found.type.BaseList?.Types.Any(type => type.Type.ToString() == contract) == true);

    private static string? CommandName(StructDeclarationSyntax command) => command.Members.OfType<PropertyDeclarationSyntax>()
        .Where(static property => property.Identifier.Text == "Spec")
        .SelectMany(static property => property.DescendantNodes().OfType<LiteralExpressionSyntax>())
        .Select(static literal => literal.Token.Value as string).FirstOrDefault(static text => text is [>= 'A' and <= 'Z', ..]);

    private static int OpId(StructDeclarationSyntax operation) => operation.Members.OfType<PropertyDeclarationSyntax>()
        .Where(static property => property.Identifier.Text == "OpId")
        .SelectMany(static property => property.DescendantNodes().OfType<LiteralExpressionSyntax>())
        .Select(static literal => literal.Token.Value is int id ? id : -1).DefaultIfEmpty(-1).First();
}
