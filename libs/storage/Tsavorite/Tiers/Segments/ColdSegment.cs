using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>State of a cold segment.</summary>
internal enum ColdState
{
    Free,
    /// <summary>Being filled.</summary>
    Open,
    /// <summary>Full, and never written again.</summary>
    Sealed,
    /// <summary>Nothing in it is named any more, but a snapshot that runs may read it.</summary>
    Held,
    /// <summary>Nothing in it is named by words any more, but a snapshot on disk names it (store.C9).</summary>
    Kept,
    /// <summary>It continues another, and is in use as long as that is: none of its counts means anything.</summary>
    Follows,
}

/// <summary>Descriptor of a cold segment, off heap. State changes under the lock of <see cref="ColdSegments"/>; live records and pins are counted without it.</summary>
[StructLayout(LayoutKind.Sequential, Size = 112)]
internal struct ColdSegment
{
    /// <summary>No record yet, and records of several namespaces.</summary>
    public const long NoNamespace = -1, MixedNamespaces = -2;

    public ColdState State;
    /// <summary>Records take up to 2^Band pages of it each; in band 0 several share a page, and none crosses the end of one. See also <see cref="ColdSegments.RunBand"/>.</summary>
    public short Band;
    /// <summary>The longest record that is put into it, where that is less than its band says (<see cref="ColdClass"/>); else 0.</summary>
    public short RecordMax;
    /// <summary>Bytes that records have, header included.</summary>
    public int Used;
    /// <summary>Records put into it, and those that index words still name.</summary>
    public int Records, Live;
    /// <summary>Readers that have it from before they looked whether it may be read until they are through.</summary>
    public int Pins;
    /// <summary>The namespace of all its records, or one of the constants.</summary>
    public long Namespace;
    /// <summary>No record in it expires earlier (may be too early, never too late).</summary>
    public long MinExpiryMs;
    /// <summary>All records in it have an expiry, and it is not later (may be too late, never too early); else the end of time.</summary>
    public long MaxExpiryMs;
    /// <summary>No part of a record in it expires on its own earlier (<see cref="IValueCheck.TimedPartsFrom"/>; may be too early, never too late).</summary>
    public long TimedFromMs;
    /// <summary>When its expired records were looked for last.</summary>
    public long SweptMs;
    /// <summary>What tells this use of it from all others, also from those of an earlier start: random.</summary>
    public ulong Life;
    /// <summary>What tells its last page, as it was written (<see cref="ColdEnd"/>); 0: the medium has failed to write it, and no snapshot may name it.</summary>
    public ulong End;
    /// <summary>Snapshots on disk that name it.</summary>
    public int Names;
    /// <summary>Counts the records with such parts that were named in it.</summary>
    public int TimedNamed;
    /// <summary>Segments that its record lies in, if that begins in it: a run of more than one holds nothing else.</summary>
    public int Parts;
    /// <summary>The next segment of its run; 0: it is the last.</summary>
    public uint Next;
    /// <summary>Counts the uses that are made of it since the start.</summary>
    public uint Uses;
    /// <summary>Tells what was opened earlier from what was opened later; a start takes the order from the snapshot.</summary>
    public long Opened;
    /// <summary>1 if something in it could not be read: nothing goes back there (store.C13).</summary>
    public int IsDoubtful;
}
