using System.Text;
using Tsavorite;

// The store without a server: count words, then read a counter back.
using Store store = new(new StoreSettings { MemoryLimitBytes = 64 << 20 });
using StoreSession session = store.OpenSession();
session.NowMs = TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds();
foreach (string word in "the quick brown fox jumps over the lazy dog and the cat".Split(' ')) Change(session, word);
Console.WriteLine($"'the' was counted {Change(session, "the") - 1} times, {store.Count(0)} words in {store.Figures().LiveBytes} bytes");

unsafe long Change(StoreSession session, string word)
{
    byte* key = stackalloc byte[256 + 16]; // 16 readable bytes behind the key
    int length = Encoding.UTF8.GetBytes(word, new Span<byte>(key, 256));
    Increment increment = default;
    session.Modify(store.Key(key, length, ns: 0), ref increment);
    return increment.Result;
}

/// <summary>Adds one to an 8-byte counter.</summary>
internal struct Increment : IModify
{
    public long Result;
    public static byte OpId => 250;
    public readonly long EncodedBytesMax => 0;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Result = existing.Exists ? BitConverter.ToInt64(existing.ValueSpan) + 1 : 1;
        next.ValueBytes = sizeof(long);
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => BitConverter.TryWriteBytes(value, Result);
    public readonly int Encode(Span<byte> to) => 0;
    public readonly bool TryDecode(ReadOnlySpan<byte> from) => from.IsEmpty;
}
