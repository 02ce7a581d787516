using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>A string value as an array of its own, for the few commands that look at it at length.</summary>
public static class ValueBytes
{
    /// <summary>Reads the value, empty if there is no key; false if the key holds no string. It counts as one read, or as none.</summary>
    public static bool TryRead(StoreSession store, in KeyRef key, out byte[] value, bool quiet = false) =>
        TryRead(store, in key, out value, out _, quiet);

    /// <summary>The same with the value's ETag, both of one moment; null if there is no key.</summary>
    public static unsafe bool TryRead(StoreSession store, in KeyRef key, out byte[] value, out ulong? tag, bool quiet = false)
    {
        value = [];
        tag = null;
        for (bool isAgain = quiet; ; isAgain = true)
        {
            fixed (byte* room = value)
            {
                var look = new CopyLook { To = room, Room = value.Length };
                if (store.Read(in key, ref look, isAgain) != Outcome.Done)
                {
                    value = [];
                    tag = null;
                    return true;
                }

                if (look.Kind != RecordKind.String)
                    return false;
                tag = look.ETag;
                if (look.Length == value.Length)
                    return true;
                value = new byte[look.Length];
            }
        }
    }

    private unsafe struct CopyLook : IRead
    {
        public byte* To;
        public int Room;
        public int Length;
        public RecordKind Kind;
        public ulong ETag;

        public void Look(in RecordView record)
        {
            Kind = record.Kind;
            ETag = record.ETag;
            Length = record.ValueBytes;
            if (Length == Room)
                Buffer.MemoryCopy(record.Value, To, Room, Length);
        }
    }
}
