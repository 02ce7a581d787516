namespace Garnet.Host;

/// <summary>What the process was started for.</summary>
internal enum CommandVerb
{
    Serve,
    Ping,
    Status,
    Doctor,
    CheckConfig,
    CheckData,
    RepairData,
    Migrate,
    Restore,
    PrintReference,
    Help,
    Version,
}
