using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Words, headers and hashes: fields do not overlap and come back as they went in.</summary>
internal sealed unsafe class LayoutTests
{
    [Test]
    public void Sizes_are_pinned()
    {
        Assert.That(sizeof(Partition), Is.EqualTo(256));
        Assert.That(sizeof(Segment), Is.EqualTo(64));
        Assert.That(sizeof(Extent), Is.EqualTo(32));
        Assert.That(sizeof(IndexSegment), Is.EqualTo(16));
        Assert.That(sizeof(NamespaceCount), Is.EqualTo(16));
        Assert.That(Record.FormatVersion, Is.EqualTo(1));
    }

    [Test]
    public void An_index_word_gives_back_its_fields_and_they_do_not_overlap()
    {
        ulong[] masks = [IndexWord.AddressMask, IndexWord.TierMask, IndexWord.TtlBit, IndexWord.FrequencyMask, IndexWord.InternalBit,
            IndexWord.TagMask];
        Assert.That(masks.Aggregate(0UL, (all, mask) => all ^ mask), Is.EqualTo(ulong.MaxValue));
        Assert.That(masks.Aggregate(0UL, (all, mask) => all | mask), Is.EqualTo(ulong.MaxValue));
        Random random = new(3);
        for (int i = 0; i < 100_000; i++)
        {
            ulong offset = ((ulong)random.NextInt64() & IndexWord.AddressMask) << 3, tag = (ulong)random.NextInt64() << 1;
            NewRecord next = new() { Kind = random.Next(2) == 0 ? RecordKind.Chunk : RecordKind.Hash, ExpireAtMs = random.Next(2) };
            ulong tier = random.Next(2) == 0 ? IndexWord.Extent : IndexWord.Dram;
            ulong word = IndexWord.Make(tag, offset, tier, next);
            Assert.That(IndexWord.Offset(word), Is.EqualTo(offset));
            Assert.That((word ^ tag) >> IndexWord.TagShift, Is.Zero);
            Assert.That(word & IndexWord.TierMask, Is.EqualTo(tier));
            Assert.That((word & IndexWord.TtlBit) != 0, Is.EqualTo(next.ExpireAtMs != 0));
            Assert.That((word & IndexWord.InternalBit) != 0, Is.EqualTo(next.Kind == RecordKind.Chunk));
            Assert.That(IndexWord.Frequency(word + 2 * IndexWord.FrequencyOne), Is.EqualTo(2));
            Assert.That(IndexWord.Same(word, word + IndexWord.FrequencyOne), Is.True);
            Assert.That(IndexWord.Same(word, word ^ IndexWord.TtlBit), Is.False);
        }
    }

    [Test]
    public void A_record_gives_back_its_fields()
    {
        byte* memory = (byte*)NativeMemory.AllocZeroed(1 << 17);
        byte* key = (byte*)NativeMemory.AllocZeroed(1 << 17);
        Random random = new(4);
        for (int i = 0; i < 20_000; i++)
        {
            NewRecord next = new() { Kind = (RecordKind)random.Next(1, 7), ValueBytes = random.Next(5000),
                ExpireAtMs = random.Next(2) * random.NextInt64(), ETag = (ulong)(random.Next(2) * random.NextInt64()) };
            KeyRef name = new(key, random.Next(Store.KeyBytesMax + 1), (uint)random.Next(1 << 24), 0);
            int slack = random.Next(256);
            byte flags = Record.FlagsFor(next);
            Record.WriteHeader(memory, flags, name, next, slack);
            RecordView view = Record.View(memory, 0);
            Assert.That((view.Kind, view.KeyBytes, view.ValueBytes), Is.EqualTo((next.Kind, name.Length, next.ValueBytes)));
            Assert.That((view.ExpireAtMs, view.ETag), Is.EqualTo((next.ExpireAtMs, next.ETag)));
            Assert.That(Record.Namespace(memory), Is.EqualTo(name.Namespace));
            int exact = 16 + (next.ExpireAtMs != 0 ? 8 : 0) + (next.ETag != 0 ? 8 : 0) + name.Length + next.ValueBytes;
            Assert.That(Record.Capacity(memory), Is.EqualTo((exact + 7) / 8 * 8 + slack * 8));
        }
        NativeMemory.Free(memory);
        NativeMemory.Free(key);
    }

    [Test]
    public void Both_vector_probes_find_the_words_with_the_tag()
    {
        byte* bucket = (byte*)NativeMemory.AlignedAlloc(64, 64);
        Random random = new(5);
        for (int i = 0; i < 50_000; i++)
        {
            for (int w = 0; w < 8; w++) ((ulong*)bucket)[w] = (ulong)(uint)random.Next(4) << 42 | (uint)random.Next(1000);
            ulong tag = (ulong)(uint)random.Next(4) << 42 | 5;
            uint wanted = 0;
            for (int w = 1; w < 8; w++)
                if ((((ulong*)bucket)[w] ^ tag) >> IndexWord.TagShift == 0) wanted |= 1u << w;
            Assert.That((Bucket.Matches(bucket, tag), Bucket.MatchesInPairs(bucket, tag)), Is.EqualTo((wanted, wanted)));
        }
        NativeMemory.AlignedFree(bucket);
    }

    [Test]
    public void Keys_compare_equal_only_if_all_their_bytes_are()
    {
        byte* left = stackalloc byte[64], right = stackalloc byte[64];
        for (int length = 0; length <= 40; length++)
        {
            for (int i = 0; i < 64; i++) left[i] = right[i] = (byte)i;
            right[length] = 255;
            Assert.That(Record.SameKey(left, right, length), Is.True, $"length {length}, difference behind the key");
            for (int i = 0; i < length; i++)
            {
                right[i] ^= 1;
                Assert.That(Record.SameKey(left, right, length), Is.False, $"length {length}, byte {i}");
                right[i] ^= 1;
            }
        }
    }

    [Test]
    public void The_hash_ignores_what_lies_behind_the_key_and_spreads_every_bit()
    {
        byte* key = stackalloc byte[64];
        for (int length = 0; length <= 40; length++)
        {
            new Span<byte>(key, 64).Clear();
            ulong hash = KeyHash.Of(key, length, 99);
            key[length] = 255;
            Assert.That(KeyHash.Of(key, length, 99), Is.EqualTo(hash), $"length {length}");
            for (int i = 0; i < length; i++)
            {
                key[i] ^= 1;
                int flipped = System.Numerics.BitOperations.PopCount(KeyHash.Of(key, length, 99) ^ hash);
                Assert.That(flipped, Is.InRange(10, 54), $"length {length}, byte {i}");
                key[i] ^= 1;
            }
        }
        int[] buckets = new int[1024];
        for (ulong i = 0; i < 102_400; i++)
        {
            *(ulong*)key = i;
            buckets[KeyHash.Of(key, 8, 99) >> 54]++;
        }
        Assert.That(buckets.Max(), Is.LessThan(160));
        Assert.That(buckets.Min(), Is.GreaterThan(50));
    }
}
