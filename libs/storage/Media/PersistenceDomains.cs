namespace Garnet.Media;

/// <summary>Names of the domains, as people and INFO have them.</summary>
public static class PersistenceDomains
{
    /// <summary>The name: <c>none</c>, <c>disk</c>, <c>pm:adr</c> …</summary>
    public static string NameOf(PersistenceDomain domain) => domain switch
    {
        PersistenceDomain.Disk => "disk",
        PersistenceDomain.PmEmulated => "pm:emulated",
        PersistenceDomain.PmAdr => "pm:adr",
        PersistenceDomain.PmEadr => "pm:eadr",
        _ => "none",
    };

    /// <summary>True for memory that is known to keep what was fenced.</summary>
    public static bool IsRealPm(this PersistenceDomain domain) => domain is PersistenceDomain.PmAdr or PersistenceDomain.PmEadr;
}
