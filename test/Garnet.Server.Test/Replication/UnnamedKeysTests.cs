using Garnet.Common.Test;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Test.Replication;

/// <summary>What a read on a replica looks at without naming it is of one state too (replication.Z5).</summary>
public sealed class UnnamedKeysTests
{
    private const int Keys = 24, Writes = 3000, Looks = 2000;

    [Test]
    public void Z5_keys_that_follow_from_elements_are_of_one_state()
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, static settings => settings.Replication.ReadWaitMs = 10_000);
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"{i}")];
        using (var client = new TestClient(primary.Server.Port)) client.Call(["RPUSH", "list", .. names]);
        ReplicaGroup.CatchUp(replica, primary);
        TestThread writer = TestThread.Begin(() =>
        {
            using var client = new TestClient(primary.Server.Port);
            for (int i = 0; i < Writes; i++) client.Call(["MSET", .. names.SelectMany(name => (string[])[$"w_{name}", $"{i}"])]);
        });
        int torn = 0, looks = 0;
        string example = "";
        using (var reader = new TestClient(replica.Server.Port))
        {
            for (; looks < Looks || writer.IsAlive; looks++)
            {
                string seen = reader.Call("SORT_RO", "list", "BY", "nosort", "GET", "w_*");
                if (seen.Trim('[', ']').Split(' ').Distinct().Count() == 1) continue;
                (torn, example) = (torn + 1, seen);
            }
        }
        writer.Await();
        Assert.That(torn, Is.Zero, $"of {looks}: {example}");
    }

    [Test]
    public void Z5_a_read_whose_keys_are_not_all_at_places_its_declaration_names_declares_that()
    {
        using var table = new CommandTable(CommandFamilies.Register);
        string[] undeclared = [.. table.Specs.Where(static spec => (spec.Flags & (CommandFlags.ReadOnly | CommandFlags.MovableKeys)) == (CommandFlags.ReadOnly | CommandFlags.MovableKeys)
            && spec.Keys is { First: > 0, CountArg: 0 } && (spec.Flags & (CommandFlags.OtherKeys | CommandFlags.RunsScript)) == 0).Select(static spec => spec.Name)];
        Assert.That(undeclared, Is.Empty);
        Assert.That(table.Specs.Where(static spec => (spec.Flags & CommandFlags.OtherKeys) != 0).Select(static spec => spec.Name), Does.Contain("SORT_RO"));
    }
}
