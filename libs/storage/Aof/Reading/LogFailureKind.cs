namespace Garnet.Aof.Reading;

/// <summary>What stands where a log ends.</summary>
internal enum LogFailureKind
{
    /// <summary>Nothing.</summary>
    End,
    /// <summary>Nothing, and a whole file of the same sublog goes on with a later batch: a file in between, or the end of this one, is missing.</summary>
    Missing,
    /// <summary>Something that is not whole: an interrupted write, or damage; what lies behind decides.</summary>
    Broken,
    /// <summary>Whole by its checksums and yet impossible, or missing at the beginning: never an interrupted write.</summary>
    Impossible,
    /// <summary>Whole, of a version this code does not know.</summary>
    Newer,
}
