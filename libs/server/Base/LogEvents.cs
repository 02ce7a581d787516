namespace Garnet.Server;

/// <summary>Ids of log events that a sink may want to show in a way of its own.</summary>
public static class LogEvents
{
    /// <summary>How far a long job is; said again every second while it runs.</summary>
    public const int Progress = 18;
}
