using Garnet.Common;
using Garnet.Common.Time;
using Microsoft.Extensions.Logging.Abstractions;

namespace Garnet.Server.Test.Persistence;

/// <summary>A server that cannot be made keeps nothing open: whoever embeds one may mend the settings and make another.</summary>
public sealed class RefusedServerTests
{
    [Test]
    public void A_directory_is_free_again_when_the_tier_cannot_be_opened()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("garnet-refused-");
        try
        {
            GarnetException refused = Assert.Throws<GarnetException>(() => Make(folder.FullName, tier: Path.Combine(folder.FullName, "nowhere")).Dispose())!;
            Assert.That(refused.Message, Does.Contain("tier-path"));
            using RespServer server = Make(folder.FullName, tier: "");
            Assert.That(server.DataDirectory, Does.StartWith(folder.FullName));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static RespServer Make(string folder, string tier)
    {
        var settings = new ServerSettings();
        var table = new SettingTable();
        settings.Register(table);
        settings.Persistence.Directory = folder;
        settings.Persistence.AppendOnly = true;
        table.SetAtStart("appendonly", "yes", SettingSource.CommandLine, "");
        settings.Tier.Path = tier;
        return new RespServer(settings, table, NullLogger.Instance, SystemClock.Instance);
    }
}
