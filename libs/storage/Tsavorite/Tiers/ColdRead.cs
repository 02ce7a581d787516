namespace Tsavorite;

/// <summary>A cold record that is wanted, on its way, or there.</summary>
internal sealed unsafe class ColdRead(ulong word)
{
    /// <summary>Its name (<see cref="ColdAddress.Name"/>).</summary>
    public readonly ulong Word = word;
    public ColdReadState State;
    /// <summary>The segment's, looked at once: where the word is of the past, the segment may be another's by now and its band change.</summary>
    public int Band;
    public int Bytes, Skip, RecordBytes, Error;
    /// <summary>What is read for it, at the most.</summary>
    public long BytesMax => (long)ColdSegments.PageBytes << Band;
    /// <summary>Where it is read to.</summary>
    public nint To;
    public byte* Record;
    /// <summary>It lies in persistent memory, and is read there: nothing was copied.</summary>
    public bool IsInPlace;
    /// <summary>When it was handed to the device, by <see cref="System.Diagnostics.Stopwatch"/>.</summary>
    public long BegunAt;
    /// <summary>The step that has counted a look at it last; and that step, which was put off then, does so again.</summary>
    public long CountedIn;
    public bool IsOwed;
    /// <summary>When it was first seen to have come.</summary>
    public long KeptSinceMs;
}
