namespace Garnet.Host.Test;

public sealed class ReferencePageTests
{
    [Test]
    public void The_page_of_settings_is_what_the_server_prints()
    {
        string? root = TestContext.CurrentContext.TestDirectory;
        while (!File.Exists(Path.Combine(root!, "Garnet.sln"))) root = Path.GetDirectoryName(root);
        string page = File.ReadAllText(Path.Combine(root!, "website", "docs", "reference", "settings.md"));
        Assert.That(page, Is.EqualTo(Reference.Settings()),
            "run: garnet-server --print-reference settings > website/docs/reference/settings.md");
    }
}
