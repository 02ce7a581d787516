namespace Garnet.Server;

/// <summary>How much the server writes to its log; the spellings of redis.conf.</summary>
public enum LogVerbosity
{
    Debug,
    Verbose,
    Notice,
    Warning,
    Nothing,
}
