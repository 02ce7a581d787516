using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>A record in memory shown to who reads it, while others may write there: what is shown is bounded, and true only if the bucket has not changed.</summary>
internal static unsafe class RecordLook
{
    /// <summary>False if its lengths cannot be true; else whether it is <paramref name="live"/>, and it is shown if so.</summary>
    // store.U2: every shared word is read once into a local; lengths are bounded before anything is shown.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Show<T>(Shape* shape, long nowMs, ulong word, ulong head, ref T read, out bool live) where T : struct, IRead
    {
        byte* record = shape->Base + IndexWord.Offset(word);
        int valueBytes = Volatile.Read(ref *(int*)(record + 8));
        byte flags = (byte)(head >> 40);
        int keyBytes = (int)(head >> 48);
        byte* key = record + Record.KeyOffset(flags);
        live = false;
        if (!StoreTestHooks.Has(PlantedFault.SkipLengthBound) && !IsInBounds(shape, key, keyBytes, valueBytes))
            return false;
        long expireAtMs = 0;
        ulong etag = 0;
        if ((flags & (Record.TtlFlag | Record.ETagFlag)) != 0)
        {
            byte* field = record + Record.HeaderBytes;
            if ((flags & Record.TtlFlag) != 0)
            {
                expireAtMs = *(long*)field;
                field += Record.FieldBytes;
            }
            if ((flags & Record.ETagFlag) != 0)
                etag = *(ulong*)field;
        }
        live = expireAtMs == 0 || expireAtMs > nowMs || StoreTestHooks.Has(PlantedFault.SkipExpiryCheck);
        if (live)
        {
            RecordKind kind = (RecordKind)(byte)(head >> 32);
            read.Look(new RecordView(kind, key + keyBytes, valueBytes, key, keyBytes, expireAtMs, etag, IndexWord.Frequency(word)));
        }
        return true;
    }

    // A guard page behind the records may be read too.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool IsInBounds(Shape* shape, byte* key, int keyBytes, int valueBytes) =>
        valueBytes >= 0 && key + (uint)keyBytes + (uint)valueBytes <= shape->RecordsLimit;
}
