namespace Garnet.Aof;

/// <summary>What to do about a log that is damaged in the middle.</summary>
public enum CorruptionPolicy
{
    /// <summary>Refuse to start and say what is damaged.</summary>
    Refuse,
    /// <summary>Go on with what lies before the damage; the damaged files are kept aside.</summary>
    Truncate,
}
