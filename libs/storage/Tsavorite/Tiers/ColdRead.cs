namespace Tsavorite;

/// <summary>A cold record that is wanted, on its way, or there.</summary>
internal sealed unsafe class ColdRead(ulong word)
{
    /// <summary>Its name (<see cref="ColdAddress.Name"/>).</summary>
    public readonly ulong Word = word;
    public ColdReadState State;
    public int Band, Bytes, Skip, RecordBytes, Error;
    /// <summary>Where it is read to.</summary>
    public nint To;
    public byte* Record;
    /// <summary>When it was handed to the device, by <see cref="System.Diagnostics.Stopwatch"/>.</summary>
    public long BegunAt;
    /// <summary>The step that has counted a look at it last; and that step, which was put off then, does so again.</summary>
    public long CountedIn;
    public bool IsOwed;
    /// <summary>When it was first seen to have come.</summary>
    public long KeptSinceMs;
}
