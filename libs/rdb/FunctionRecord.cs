using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// Where the libraries are kept: one record in a database that no client can select. So they are in the log, in snapshots and on
/// replicas without more; who runs functions looks at the mark in front of them and loads them anew when it has changed.
/// </summary>
public sealed unsafe class FunctionRecord : IDisposable
{
    private const int MarkBytes = 16, SlackBytes = RespLimits.ReadableSlack;

    private static ReadOnlySpan<byte> Name => "functions"u8;

    private readonly NativeArray<byte> _name = new(Name.Length + SlackBytes);

    public FunctionRecord() => Name.CopyTo(new Span<byte>(_name.Items, Name.Length));

    /// <summary>The key of the record.</summary>
    public KeyRef Key(Store store) => store.Key(_name.Items, Name.Length, store.Namespaces.Id(NamespaceTable.Reserved));

    /// <summary>The mark of what is kept; empty if nothing is.</summary>
    public Guid Mark(Store store, StoreSession session)
    {
        var look = default(MarkLook);
        return session.Read(Key(store), ref look, quiet: true) == Outcome.Done ? look.Mark : Guid.Empty;
    }

    /// <summary>The texts of the libraries that are kept, and their mark.</summary>
    public List<byte[]> Read(Store store, StoreSession session, IReadOnlyList<byte[]> known, out Guid mark)
    {
        mark = Guid.Empty;
        if (!ValueBytes.TryRead(session, Key(store), out byte[] value) || value.Length < MarkBytes)
            return [];
        mark = new Guid(value.AsSpan(0, MarkBytes));
        return FunctionDump.Read(value.AsSpan(MarkBytes), known) ?? [];
    }

    /// <summary>The texts of the libraries under a key that is the record's, in whatever store.</summary>
    public static List<byte[]> Sources(StoreSession session, in KeyRef key) =>
        ValueBytes.TryRead(session, key, out byte[] value) && value.Length >= MarkBytes
            ? FunctionDump.Read(value.AsSpan(MarkBytes)) ?? []
            : [];

    /// <summary>Keeps the libraries; the new mark is returned.</summary>
    public Outcome Write(Store store, StoreSession session, IEnumerable<byte[]> sources, out Guid mark)
    {
        mark = Guid.NewGuid();
        RdbWriter laid = FunctionDump.Laid(sources);
        int bytes = checked(MarkBytes + laid.Bytes.Count);
        using var memory = new NativeArray<byte>((long)bytes + SlackBytes);
        byte* value = memory.Items;
        try
        {
            mark.TryWriteBytes(new Span<byte>(value, MarkBytes));
            new ReadOnlySpan<byte>(laid.Bytes.Head, laid.Bytes.Count).CopyTo(new Span<byte>(value + MarkBytes, laid.Bytes.Count));
            var set = new SetValue { Value = value, Length = bytes };
            return session.Modify(Key(store), ref set);
        }
        finally
        {
            laid.Bytes.Free();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _name.Dispose();

    private struct MarkLook : IRead
    {
        internal Guid Mark;

        public void Look(in RecordView record)
        {
            if (record.ValueBytes >= MarkBytes)
                Mark = new Guid(new ReadOnlySpan<byte>(record.Value, MarkBytes));
        }
    }
}
