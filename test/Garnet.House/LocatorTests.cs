using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Garnet.House;

/// <summary>
/// Rule 6: a part asks for what it uses, not for something to dig it out of. Whoever is given a whole server, a node of replication or a reactor
/// may reach everything, and nobody can tell from its constructor what it needs. Who joins parts has to have them, and says so in allow.txt.
/// </summary>
public sealed class LocatorTests
{
    // Types that hold the parts of others. An Executor has the server's context, so that commands find it; a Worker, which is what a part needs of it, has not.
    private static readonly string[] Wholes =
    [
        "Garnet.Server.RespServer", "Garnet.Server.Commands.ServerContext", "Garnet.Server.Commands.Executor", "Garnet.Server.Net.Reactor",
        "Garnet.Server.Replication.ReplicationNode",
    ];

    // Commands see the server's context by design, figures are read from all of it, and a rule of Admission is asked about a command.
    private static readonly string[] OfTheWhole = ["libs/server/Families", "libs/server/Telemetry"];

    [Test]
    public void Parts_of_the_server_ask_for_what_they_use() => AllowList.Judge("locators", Found());

    private static IEnumerable<Finding> Found() => House.Sources
        .Where(static file => file.IsIn("libs/server") && !OfTheWhole.Any(file.IsIn))
        .SelectMany(static file => Found(file, House.Libraries.GetSemanticModel(file.Unit.SyntaxTree))).DistinctBy(static found => found.Subject);

    private static IEnumerable<Finding> Found(SourceFile file, SemanticModel model)
    {
        foreach (ParameterListSyntax list in file.All<ParameterListSyntax>().Where(static list => list.Parent is ConstructorDeclarationSyntax or TypeDeclarationSyntax))
        {
            foreach (ParameterSyntax parameter in list.Parameters)
            {
                if (parameter.Type is { } type && model.GetTypeInfo(type).Type?.ToDisplayString() is { } name && Wholes.Contains(name.TrimEnd('?')))
                    yield return new Finding(file.Path, $"line {file.LineOf(parameter)}: its constructor takes the whole {name}; let it take what it uses of that");
            }
        }
    }
}
