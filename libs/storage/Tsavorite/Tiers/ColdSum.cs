using System.Numerics;

namespace Tsavorite;

/// <summary>
/// The checksum of a record on the tier, begun with its place, as far as it has come. Of a string it is the CRC32C: whoever makes that anew changes what a client reads, and no more. Of what else there is,
/// lengths and counts in it are relied on: it is 32 bits of a SipHash under the tier's secret. Which of them, the record's own header says: one with another kind has no right checksum either.
/// All parts of a record but the last have whole words of 8 bytes.
/// </summary>
internal unsafe struct ColdSum
{
    /// <summary>Bytes of it, with which a record begins.</summary>
    public const int Bytes = sizeof(uint);
    private readonly bool _isKeyed;
    private SipHash _hash;
    private uint _crc;

    public ColdSum(in ColdPlace place, byte* record)
    {
        _isKeyed = !place.Secret.IsNone && (Record.Kind(record) != RecordKind.String || (Record.Flags(record) & Record.OwnerFlag) != 0);
        if (!_isKeyed)
        {
            _crc = BitOperations.Crc32C(BitOperations.Crc32C(~0u, place.Life), (ulong)place.Offset);
            return;
        }
        _hash = place.Secret.Begin();
        _hash.Add(place.Life);
        _hash.Add((ulong)place.Offset);
    }

    public readonly uint Value => _isKeyed ? (uint)_hash.End() : ~_crc;

    /// <summary>The first part of the record, with its header: without the checksum that stands, or will stand, there.</summary>
    public void AddFirst(byte* from, long bytes)
    {
        if (_isKeyed)
            _hash.Add(*(ulong*)from >> (8 * Bytes) << (8 * Bytes));
        else
            _crc = BitOperations.Crc32C(_crc, *(uint*)(from + Bytes));
        Add(from + sizeof(ulong), bytes - sizeof(ulong));
    }

    /// <summary>The part behind those before.</summary>
    public void Add(byte* from, long bytes)
    {
        if (_isKeyed)
            _hash.Add(from, bytes);
        else
            AddToCrc(from, bytes);
    }

    private void AddToCrc(byte* from, long bytes)
    {
        uint crc = _crc;
        byte* next = from, end = from + bytes;
        for (; end - next >= sizeof(ulong); next += sizeof(ulong)) crc = BitOperations.Crc32C(crc, *(ulong*)next);
        for (; next < end; next++) crc = BitOperations.Crc32C(crc, *next);
        _crc = crc;
    }
}
