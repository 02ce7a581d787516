namespace Garnet.Bulk;

/// <summary>What others may do to a region.</summary>
[Flags]
public enum BulkAccess
{
    None = 0,
    Read = 1,
    Write = 2,
}
