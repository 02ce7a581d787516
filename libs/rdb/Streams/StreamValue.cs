using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Garnet.Types.Streams;

namespace Garnet.Rdb.Streams;

/// <summary>A stream on its way from RDB to the store.</summary>
internal sealed class StreamValue : IDisposable
{
    private ByteQueue _bytes;

    /// <summary>The greatest id ever.</summary>
    internal StreamId Last { get; set; }

    /// <summary>The greatest id that was deleted.</summary>
    internal StreamId MaxDeleted { get; set; }

    /// <summary>Entries ever added.</summary>
    internal long Added { get; set; }

    /// <summary>Entries with the same names, one run behind the other.</summary>
    internal List<StreamRun> Runs { get; } = [];

    internal List<StreamGroupValue> Groups { get; } = [];

    /// <summary>Bytes of all entries and names.</summary>
    internal int Bytes => _bytes.Count;

    /// <summary>Begins a run of entries with these names.</summary>
    internal void BeginRun(List<byte[]> names)
    {
        int at = _bytes.Count;
        foreach (byte[] name in names)
            OperandText.Append(ref _bytes, name);
        Runs.Add(new StreamRun(at, _bytes.Count, _bytes.Count));
    }

    /// <summary>Adds an entry to the run; as many values as there are names follow.</summary>
    internal void AddEntry(StreamId id)
    {
        _bytes.Append(MemoryMarshal.AsBytes(new ReadOnlySpan<StreamId>(in id)));
        Extend();
    }

    /// <summary>Adds a value to the entry.</summary>
    internal void AddValue(Arg value)
    {
        OperandText.Append(ref _bytes, value.Span);
        Extend();
    }

    /// <summary>The bytes that runs point into.</summary>
    internal unsafe byte* Head => _bytes.Head;

    /// <inheritdoc/>
    public void Dispose() => _bytes.Free();

    private void Extend() => Runs[^1] = Runs[^1] with { End = _bytes.Count };
}

/// <summary>Where names, entries and the end of a run are; an entry is its id and the values.</summary>
internal readonly record struct StreamRun(int Names, int Entries, int End);

/// <summary>A group of consumers.</summary>
internal sealed record StreamGroupValue(byte[] Name, StreamId Last)
{
    /// <summary>Entries read up to the last one; null if that is to be found out.</summary>
    internal long? Read { get; set; }

    internal List<StreamConsumerValue> Consumers { get; } = [];

    /// <summary>What is pending for nobody, the first to be released first.</summary>
    internal List<PendingPiece> Released { get; } = [];
}

/// <summary>A consumer and what is pending for it, in the order of ids.</summary>
internal sealed record StreamConsumerValue(byte[] Name, long SeenMs, long ActiveMs, List<PendingPiece> Pending);
