namespace Garnet.Rdb.Test;

/// <summary>A file is read piece by piece, however it comes, and nothing of it is kept.</summary>
public sealed class ScanTests
{
    private const int LargeBytes = 5 << 20; // more than is at hand at first, so that it is read again

    [TestCase(1)]
    [TestCase(7)]
    [TestCase(int.MaxValue)]
    public void It_does_not_matter_in_which_pieces_it_comes(int pieceBytes)
    {
        byte[] file = File([0xFE, 3, .. Text("a", 1), .. Text("b", 200), 0xFA, 1, (byte)'x', 1, (byte)'y', 0xF5, 3, .. "lib"u8]);
        using var scan = new RdbScan(new Pieces(file, pieceBytes));
        Assert.That(scan.Run(), Is.Null);
        Assert.That((scan.Keys, scan.Functions, scan.Databases, scan.Offset), Is.EqualTo((2L, 1, 4L, (long)file.Length)));
    }

    [Test]
    public void A_value_that_is_longer_than_what_is_at_hand_is_read_as_a_whole()
    {
        byte[] file = File([.. Text("a", 1), .. Text("b", LargeBytes), .. Text("c", 1)]);
        using var scan = new RdbScan(new Pieces(file, 1 << 16));
        Assert.That((scan.Run(), scan.Keys), Is.EqualTo((default(string), 3L)));
    }

    [Test]
    public void A_file_that_is_cut_off_anywhere_is_refused()
    {
        byte[] file = File([0xFE, 0, .. Text("a", 1), .. Text("b", 70)]);
        for (int length = 0; length < file.Length; length++)
        {
            using var scan = new RdbScan(new Pieces(file[..length], 16));
            Assert.That(scan.Run(), Is.Not.Null, $"{length} bytes");
        }
    }

    [Test]
    public void A_checksum_that_is_not_there_counts_as_a_wrong_one()
    {
        byte[] file = File(Text("a", 1));
        Array.Clear(file, file.Length - 8, 8);
        using var scan = new RdbScan(new Pieces(file, 16));
        Assert.That(scan.Run(), Is.EqualTo("its checksum is wrong"));
    }

    private static byte[] Text(string key, int valueBytes) =>
        [0, (byte)key.Length, .. key.Select(static letter => (byte)letter), 0x80, .. BitConverter.GetBytes(valueBytes).Reverse(), .. new byte[valueBytes]];

    private static unsafe byte[] File(byte[] entries)
    {
        byte[] bytes = [.. "REDIS0012"u8, .. entries, 0xFF];
        fixed (byte* start = bytes) return [.. bytes, .. BitConverter.GetBytes(Crc64.Append(0, start, bytes.Length))];
    }

    private sealed class Pieces(byte[] file, int pieceBytes) : IRdbSource
    {
        private int _at;

        public int Read(Span<byte> to)
        {
            int part = Math.Min(Math.Min(to.Length, pieceBytes), file.Length - _at);
            file.AsSpan(_at, part).CopyTo(to);
            _at += part;
            return part;
        }
    }
}
