namespace Garnet.Host;

/// <summary>What the process was started for.</summary>
internal enum CommandVerb
{
    Serve,
    Ping,
    CheckConfig,
    CheckData,
    RepairData,
    PrintReference,
    /// <summary>Help or version was printed, or the options were wrong and that was printed.</summary>
    Done,
}
