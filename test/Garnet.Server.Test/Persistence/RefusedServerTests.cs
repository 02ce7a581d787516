using Garnet.Common;
using Garnet.Common.Time;
using Garnet.Media;
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

    [Test]
    public void A_disk_with_more_than_is_named_beside_persistent_memory_is_refused_and_nothing_of_it_is_made()
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("garnet-refused-");
        try
        {
            GarnetException refused = Assert.Throws<GarnetException>(() => Make(folder.FullName, folder.FullName, settings =>
                (settings.Tier.PmPath, settings.Tier.PmSizeBytes, settings.Tier.SizeBytes) = (folder.FullName, 16 << 20, LayeredMedium.MemoryFrom + 4096)).Dispose())!;
            Assert.That(refused.Kind, Is.EqualTo(ExitKind.Configuration));
            Assert.That(refused.Message, Does.Contain("tier-size").And.Contain("549755813888 bytes or less"));
            Assert.That(folder.GetFiles("tier-*"), Is.Empty);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static RespServer Make(string folder, string tier, Action<ServerSettings>? adjust = null)
    {
        var settings = new ServerSettings();
        var table = new SettingTable();
        settings.Register(table);
        settings.Persistence.Directory = folder;
        settings.Persistence.AppendOnly = true;
        table.SetAtStart("appendonly", "yes", SettingSource.CommandLine, "");
        settings.Tier.Path = tier;
        adjust?.Invoke(settings);
        return new RespServer(settings, table, NullLogger.Instance);
    }
}
