using System.Buffers.Binary;
using System.Security.Cryptography;
using Garnet.Common;
using Garnet.Server.Backups;

namespace Garnet.Server.Test.Backups;

/// <summary>The bytes of a backup: what was written comes back, and nothing else passes for it.</summary>
internal sealed class BackupFormatTests
{
    private const int LargeValue = 700_000, LargeKeys = 5; // more than three chunks
    private static readonly byte[] OtherKey = [.. BackupBytes.Key.Reverse()];

    [Test]
    public void What_was_written_comes_back([Values] bool isEncrypted, [Values(1, 5)] int keys, [Values(3, LargeValue)] int valueBytes)
    {
        byte[]? key = isEncrypted ? BackupBytes.Key : null;
        byte[] rdb = BackupBytes.Rdb(keys, valueBytes), backup = BackupBytes.Of(rdb, keys, key);
        Assert.That(BackupBytes.Proven(backup, key).AsSpan().SequenceEqual(rdb), Is.True);
        using BackupReader reader = BackupBytes.Open(backup);
        Assert.That((reader.Header.CreatedMs, reader.Header.Term, reader.Header.Batch, reader.Header.ServerVersion), Is.EqualTo((1_000L, 2u, 3ul, "0.1.0")));
        Assert.That((reader.Header.IsEncrypted, reader.Trailer.Keys, backup.AsSpan().IndexOf(rdb) >= 0), Is.EqualTo((isEncrypted, (long)keys, !isEncrypted)));
    }

    [Test]
    public void A_file_that_ends_with_a_chunk_is_whole([Values] bool isEncrypted)
    {
        byte[]? key = isEncrypted ? BackupBytes.Key : null;
        int besides = BackupBytes.Rdb(1, 0).Length;
        byte[] rdb = BackupBytes.Rdb(1, (2 * BackupFormat.ChunkBytes) - besides), backup = BackupBytes.Of(rdb, 1, key);
        Assert.That(rdb, Has.Length.EqualTo(2 * BackupFormat.ChunkBytes));
        Assert.That(BackupBytes.Proven(backup, key).AsSpan().SequenceEqual(rdb), Is.True);
    }

    [Test]
    public void A_file_of_which_one_bit_has_changed_is_refused([Values] bool isEncrypted)
    {
        byte[]? key = isEncrypted ? BackupBytes.Key : null;
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, key);
        for (int at = 0; at < backup.Length; at++)
        {
            backup[at] ^= (byte)(1 << (at % 8));
            Assert.That(() => BackupBytes.Proven(backup, key), Throws.TypeOf<GarnetException>(), $"byte {at}");
            backup[at] ^= (byte)(1 << (at % 8));
        }
    }

    // A checksum says who wrote bytes at most: what an enemy has sealed anew is encrypted for him by nobody.
    [Test]
    public void A_change_behind_a_right_checksum_is_refused_where_it_is_encrypted()
    {
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, BackupBytes.Key);
        for (int at = 0; at < backup.Length - BackupTrailer.ChecksumBytes; at++)
        {
            byte[] changed = [.. backup];
            changed[at] ^= (byte)(1 << (at % 8));
            Assert.That(() => BackupBytes.Proven(Sealed(changed), BackupBytes.Key), Throws.TypeOf<GarnetException>(), $"byte {at}");
        }
    }

    [Test]
    public void A_file_that_is_cut_off_anywhere_is_refused([Values] bool isEncrypted)
    {
        byte[]? key = isEncrypted ? BackupBytes.Key : null;
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, key);
        for (int length = 0; length < backup.Length; length++)
            Assert.That(() => BackupBytes.Proven(backup[..length], key), Throws.TypeOf<GarnetException>(), $"{length} bytes");
    }

    [Test]
    public void Bytes_behind_its_end_are_refused([Values] bool isEncrypted, [Values(1, 128, 5000)] int more)
    {
        byte[]? key = isEncrypted ? BackupBytes.Key : null;
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, key);
        Assert.That(() => BackupBytes.Proven([.. backup, .. new byte[more]], key), Throws.TypeOf<GarnetException>());
        Assert.That(() => BackupBytes.Proven(Sealed([.. backup, .. backup]), key), Throws.TypeOf<GarnetException>().With.Message.Contains("not as long as it says"));
        byte[] between = [.. backup[..^BackupTrailer.Bytes], .. new byte[more], .. backup[^BackupTrailer.Bytes..]];
        Assert.That(() => BackupBytes.Proven(Sealed(between), key), Throws.TypeOf<GarnetException>().With.Message.Contains("not as long as it says"));
    }

    [TestCase(8, 2, "it has version 2 of the format")]
    [TestCase(10, 2, "its header is damaged")]
    [TestCase(10, 1, "its header is damaged", Description = "encrypted without a salt")]
    [TestCase(12, 129, "its header is damaged")]
    [TestCase(23, 0x80, "its header is damaged", Description = "a moment before 1970")]
    [TestCase(22, 0x7F, "its header is damaged", Description = "a moment that no calendar has")]
    [TestCase(28, 1, "its header is damaged")]
    [TestCase(40, 1, "its header is damaged", Description = "a salt of what is not encrypted")]
    [TestCase(73, 7, "its header is damaged", Description = "a version that would ring on a terminal")]
    [TestCase(104, 1, "its header is damaged")]
    [TestCase(127, 1, "its header is damaged")]
    public void A_header_that_means_nothing_is_refused_also_behind_a_right_checksum(int at, int value, string why)
    {
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, key: null);
        backup[at] = (byte)value;
        Assert.That(() => BackupBytes.Proven(Sealed(backup), null), Throws.TypeOf<GarnetException>().With.Message.Contains(why));
    }

    [Test]
    public void Chunks_that_were_moved_are_refused()
    {
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(LargeKeys, LargeValue), LargeKeys, BackupBytes.Key);
        const int Chunk = BackupFormat.ChunkBytes + BackupFormat.TagBytes;
        byte[] first = backup[BackupHeader.Bytes..(BackupHeader.Bytes + Chunk)], second = backup[(BackupHeader.Bytes + Chunk)..(BackupHeader.Bytes + (2 * Chunk))];
        byte[] swapped = [.. backup[..BackupHeader.Bytes], .. second, .. first, .. backup[(BackupHeader.Bytes + (2 * Chunk))..]];
        Assert.That(() => BackupBytes.Proven(Sealed(swapped), BackupBytes.Key), Throws.TypeOf<GarnetException>().With.Message.Contains("chunk 0"));
    }

    [Test]
    public void A_chunk_of_another_file_is_refused()
    {
        byte[] one = BackupBytes.Of(BackupBytes.Rdb(3), 3, BackupBytes.Key), other = BackupBytes.Of(BackupBytes.Rdb(3), 3, OtherKey);
        byte[] mixed = [.. one[..BackupHeader.Bytes], .. other[BackupHeader.Bytes..^BackupTrailer.Bytes], .. one[^BackupTrailer.Bytes..]];
        Assert.That(() => BackupBytes.Proven(Sealed(mixed), BackupBytes.Key), Throws.TypeOf<GarnetException>().With.Message.Contains("chunk 0"));
    }

    // Whoever has a whole file and cuts chunks off its end cannot make a shorter one of it, also where he writes the trailer that fits.
    [Test]
    public void A_file_without_its_last_chunk_is_refused_whatever_its_trailer_says()
    {
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(LargeKeys, LargeValue), LargeKeys, BackupBytes.Key);
        byte[] trailer = backup[^BackupTrailer.Bytes..];
        BinaryPrimitives.WriteInt64LittleEndian(trailer.AsSpan(8), BackupFormat.ChunkBytes);
        byte[] cut = [.. backup[..(BackupHeader.Bytes + BackupFormat.ChunkBytes + BackupFormat.TagBytes)], .. trailer];
        Assert.That(() => BackupBytes.Proven(Sealed(cut), BackupBytes.Key), Throws.TypeOf<GarnetException>().With.Message.Contains("somebody has changed it"));
    }

    [Test]
    public void Another_key_is_told_from_damage()
    {
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, BackupBytes.Key);
        Assert.That(() => BackupBytes.Proven(backup, OtherKey), Throws.TypeOf<GarnetException>().With.Message.Contains("the key is not the one"));
        Assert.That(() => BackupBytes.Proven(backup, null), Throws.TypeOf<GarnetException>().With.Message.Contains("no key was given"));
    }

    [Test]
    public void One_that_is_not_encrypted_is_refused_where_a_key_is_given()
    {
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, null);
        Assert.That(() => BackupBytes.Proven(backup, BackupBytes.Key), Throws.TypeOf<GarnetException>().With.Message.Contains("it is not encrypted, and a key was given"));
    }

    [Test]
    public void Two_files_of_the_same_data_have_nothing_in_common()
    {
        byte[] rdb = BackupBytes.Rdb(3), header = new byte[BackupHeader.Bytes];
        byte[][] texts = [.. new byte[] { 1, 2 }.Select(salt =>
        {
            using var cipher = new ChunkCipher(BackupBytes.Key, header, [.. Enumerable.Repeat(salt, BackupHeader.SaltBytes)]);
            byte[] to = new byte[rdb.Length];
            cipher.Encrypt(0, isLast: true, rdb, to, new byte[BackupFormat.TagBytes]);
            return to;
        })];
        Assert.That(texts[0], Is.Not.EqualTo(texts[1]));
    }

    // The file of an enemy: its checksum is right, and what stands behind it is no RDB file, or not the one that it tells of.
    [TestCase("keys", "and says")]
    [TestCase("value", "at byte")]
    [TestCase("crc", "its checksum is wrong")]
    [TestCase("behind", "something stands behind its end")]
    [TestCase("type", "is of type 99")]
    [TestCase("head", "does not begin as an RDB file does")]
    public void What_is_no_RDB_file_is_refused_also_behind_a_right_checksum(string what, string why)
    {
        byte[] rdb = BackupBytes.Rdb(3);
        switch (what)
        {
            case "value":
                rdb[16] = 0xC3; // packed bytes of which there are none
                break;
            case "crc":
                rdb[^1] ^= 1;
                break;
            case "behind":
                rdb = [.. rdb, 0];
                break;
            case "type":
                rdb[11] = 99;
                break;
            case "head":
                rdb[0] = 0;
                break;
        }

        byte[] backup = BackupBytes.Of(rdb, what == "keys" ? 4 : 3, key: null);
        Assert.That(() => BackupBytes.Proven(backup, null), Throws.TypeOf<GarnetException>().With.Message.Contains(why));
    }

    // Sizes whose sums would not fit into 64 bits are told from the file's by comparison alone.
    [TestCase(long.MaxValue, "does not end as a backup does")]
    [TestCase(long.MinValue, "does not end as a backup does")]
    [TestCase(BackupFormat.PayloadBytesMax, "not as long as it says")]
    [TestCase(BackupFormat.PayloadBytesMax + 1, "does not end as a backup does")]
    [TestCase(0, "does not end as a backup does")]
    [TestCase(-1, "does not end as a backup does")]
    public void A_size_that_cannot_be_is_refused(long payloadBytes, string why)
    {
        byte[] backup = BackupBytes.Of(BackupBytes.Rdb(3), 3, key: null);
        BinaryPrimitives.WriteInt64LittleEndian(backup.AsSpan(backup.Length - BackupTrailer.Bytes + 8), payloadBytes);
        Assert.That(() => BackupBytes.Proven(Sealed(backup), null), Throws.TypeOf<GarnetException>().With.Message.Contains(why));
    }

    [TestCase("backup-20261130T140853Z.grnb", true)]
    [TestCase("backup-20261130T140853Z-2.grnb", true)]
    [TestCase("backup-20261130T140853Z-1.grnb", false)]
    [TestCase("backup-20261130T140853Z-02.grnb", false)]
    [TestCase("backup-20261130T140853Z.grnb.tmp", false)]
    [TestCase("backup-20261330T140853Z.grnb", false)]
    [TestCase("backup-.grnb", false)]
    [TestCase("dump.rdb", false)]
    public void Only_names_that_we_give_are_names_of_backups(string text, bool isName)
    {
        Assert.That(BackupName.TryParse(text, out BackupName name), Is.EqualTo(isName));
        Assert.That(isName ? name.ToString() : text, Is.EqualTo(text));
    }

    [Test]
    public void A_second_that_is_taken_gets_a_number_and_sorts_behind()
    {
        var first = BackupName.Of(1_000, []);
        var second = BackupName.Of(1_999, [first.ToString()]);
        Assert.That((first.ToString(), second.ToString()), Is.EqualTo(("backup-19700101T000001Z.grnb", "backup-19700101T000001Z-2.grnb")));
        Assert.That(second.CompareTo(first), Is.Positive);
    }

    [TestCase("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F\n", true)]
    [TestCase("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g", false)]
    [TestCase("0001", false)]
    [TestCase("", false)]
    public void A_key_is_32_bytes_or_their_digits(string text, bool isKey)
    {
        string path = Path.GetTempFileName();
        try
        {
            File.WriteAllText(path, text);
            Assert.That(() => BackupKey.Read(path), isKey ? Is.EqualTo(BackupBytes.Key) : Throws.TypeOf<GarnetException>());
            File.WriteAllBytes(path, BackupBytes.Key);
            Assert.That(BackupKey.Read(path), Is.EqualTo(BackupBytes.Key));
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static byte[] Sealed(byte[] backup)
    {
        SHA256.HashData(backup.AsSpan(..^BackupTrailer.ChecksumBytes), backup.AsSpan(^BackupTrailer.ChecksumBytes..));
        return backup;
    }
}
