using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Hashes;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Keys;

/// <summary>What BY and GET stand for: another key, or a field of it, with the element in the place of the star; or # for the element.</summary>
internal readonly unsafe struct SortPattern(Executor worker, uint ns)
{
    private const int SlackBytes = 32; // what hashing may read behind a key or a field

    /// <summary>The value for an element, null if there is none.</summary>
    internal byte[]? Find(ReadOnlySpan<byte> pattern, byte[] element)
    {
        if (pattern.SequenceEqual("#"u8))
            return element;
        int star = pattern.IndexOf((byte)'*');
        if (star < 0)
            return null;
        int arrow = pattern[(star + 1)..].IndexOf("->"u8), fieldAt = star + 1 + arrow + 2;
        bool hasField = arrow >= 0 && fieldAt < pattern.Length;
        ReadOnlySpan<byte> behind = hasField ? pattern[(star + 1)..(fieldAt - 2)] : pattern[(star + 1)..];
        byte[] name = [.. pattern[..star], .. element, .. behind, .. new byte[SlackBytes]];
        fixed (byte* bytes = name)
        {
            KeyRef key = worker.Store.Key(bytes, name.Length - SlackBytes, ns);
            var there = default(ThereLook);
            if (worker.Session.Read(in key, ref there, quiet: true) != Outcome.Done)
                return Missed(in key);
            if (hasField)
                return Field(in key, pattern[fieldAt..]);
            return ValueBytes.TryRead(worker.Session, in key, out byte[] value) ? value : null;
        }
    }

    private byte[]? Missed(in KeyRef key)
    {
        if (worker.Server.Observers.Changes.Tells && worker.Running is { } client)
            worker.Notes.Add(new KeyNote(key.Span.ToArray(), client.Database, KeyChange.Written, client, Missed: true));
        return null;
    }

    private byte[]? Field(in KeyRef key, ReadOnlySpan<byte> field)
    {
        byte[] name = [.. field, .. new byte[SlackBytes]];
        byte[] room = [];
        fixed (byte* bytes = name)
        {
            var arg = new Arg { Bytes = bytes, Length = field.Length };
            while (true)
            {
                fixed (byte* to = room)
                {
                    var copy = new FieldCopy(arg, to, room.Length);
                    if (worker.Session.Examine(in key, ref copy, quiet: true) != Outcome.Done || !copy.Found)
                        return null;
                    if (copy.Length == room.Length)
                        return room;
                    room = new byte[copy.Length];
                }
            }
        }
    }

    // Its value is read next: of a record on the tier all is fetched at once.
    private struct ThereLook : IRead
    {
        public readonly void Look(in RecordView record)
        {
        }
    }
}
