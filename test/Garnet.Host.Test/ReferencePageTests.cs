namespace Garnet.Host.Test;

public sealed class ReferencePageTests
{
    [Test]
    public void The_page_of_settings_is_what_the_server_prints() => IsPrinted("settings", Reference.Settings());

    [Test]
    public void The_page_of_metrics_is_what_the_server_prints() => IsPrinted("metrics", Reference.Metrics());

    [Test]
    public void The_page_of_commands_is_what_the_server_prints() => IsPrinted("commands", Reference.Commands());

    private static void IsPrinted(string page, string printed)
    {
        string? root = TestContext.CurrentContext.TestDirectory;
        while (!File.Exists(Path.Combine(root!, "Garnet.sln"))) root = Path.GetDirectoryName(root);
        string kept = File.ReadAllText(Path.Combine(root!, "website", "docs", "reference", page + ".md"));
        Assert.That(kept, Is.EqualTo(printed), $"run: garnet-server --print-reference {page} > website/docs/reference/{page}.md");
    }
}
