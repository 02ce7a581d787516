using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Rdb;

namespace Garnet.Migration;

/// <summary>
/// Reads an RDB from a connection while it comes, one value in memory at a time, as the bytes it has: where a value ends is all that is
/// understood of it; whoever restores it judges it. The memory that a value takes grows with what has come.
/// </summary>
internal sealed unsafe class RdbReader(ByteLink from, long bytesMax) : IDisposable
{
    private const int HeaderBytes = 9, CrcBytes = 8, CrcSince = 5, FooterBytes = 10, NodeIdBytes = 16;
    private const int SpecialForm = 3, PackedForm = 3, PlainScoreMax = 252;
    private const long ValueBytesMax = 512L << 20; // an argument's most, as everywhere
    private const int ModuleFloat = 3, ModuleDouble = 4, ModuleString = 5;

    private readonly NativeBuffer _value = new();
    private long _held, _expireAtMs;
    private ulong _crc;
    private int _version, _database;
    private string _key = "";

    /// <summary>Bytes read so far.</summary>
    internal long Read { get; private set; }

    /// <summary>Data of modules that were left out.</summary>
    internal long Skipped { get; private set; }

    /// <summary>Reads the first bytes.</summary>
    internal void Begin()
    {
        Take(HeaderBytes);
        ReadOnlySpan<byte> header = _value.Span(0, HeaderBytes);
        if (!header.StartsWith("REDIS"u8)
            || !int.TryParse(Encoding.ASCII.GetString(header[5..]), NumberStyles.None, CultureInfo.InvariantCulture, out _version))
            throw Damage("they do not begin as an RDB does");
        if (_version is < 1 or > RdbPayload.VersionMax)
        {
            throw Damage(string.Create(CultureInfo.InvariantCulture,
                $"they have version {_version} of the format, and versions 1 to {RdbPayload.VersionMax} are understood"));
        }
    }

    /// <summary>Reads one entry; false behind the last one, whose checksum was right.</summary>
    internal bool Next(IRdbTaker to)
    {
        _held = 0;
        byte first = TakeByte();
        switch ((RdbMark)first)
        {
            case RdbMark.End:
                JudgeChecksum();
                return false;
            case RdbMark.Auxiliary:
                TakeString();
                TakeString();
                break;
            case RdbMark.Sizes:
                TakeLength();
                TakeLength();
                break;
            case RdbMark.SlotInfo:
                TakeLength();
                TakeLength();
                TakeLength();
                break;
            case RdbMark.Database:
                ulong database = TakeLength();
                _database = database <= int.MaxValue ? (int)database : throw Damage("a database has a number that cannot be");
                break;
            case RdbMark.ExpiryMs:
                Take(sizeof(long));
                TakeTime(BinaryPrimitives.ReadInt64LittleEndian(_value.Span(1, sizeof(long))));
                break;
            case RdbMark.ExpirySeconds:
                Take(sizeof(int));
                TakeTime(BinaryPrimitives.ReadInt32LittleEndian(_value.Span(1, sizeof(int))) * 1000L);
                break;
            case RdbMark.Idle:
                TakeLength();
                break;
            case RdbMark.Frequency:
                TakeByte();
                break;
            case RdbMark.Function:
                to.TakeFunction(TakeText(1));
                break;
            case RdbMark.Module:
                PassModule();
                break;
            default:
                TakeKey(to, first);
                break;
        }
        return true;
    }

    /// <inheritdoc/>
    public void Dispose() => _value.Dispose();

    /// <summary>What is thrown where the data are damaged.</summary>
    internal GarnetException Damage(string what) => new(ExitKind.Data, "the data of the source cannot be taken",
        string.Create(CultureInfo.InvariantCulture, $"{what} (at byte {Read}{(_key.Length > 0 ? ", key " + _key : "")})"),
        "What was copied before is in the target and is not all: run it again with --replace, which begins anew");

    private void TakeKey(IRdbTaker to, byte type)
    {
        byte[] key = TakeText(1).ToArray();
        _key = Answer.Shown(key);
        _held = 0;
        _value.Grow(FooterBytes, 0);
        _value.Span(0, 1)[0] = type;
        _held = 1;
        TakeValue((RdbType)type);
        _value.Grow(_held + FooterBytes, _held);
        BinaryPrimitives.WriteUInt16LittleEndian(_value.Span(_held, sizeof(ushort)), (ushort)_version);
        _held += sizeof(ushort);
        BinaryPrimitives.WriteUInt64LittleEndian(_value.Span(_held, CrcBytes), Crc64.Append(0, _value.Bytes, _held));
        _held += CrcBytes;
        if (!Place.Is(_database, key)) // of a source that was a target itself
            to.TakeKey(_database, key, _expireAtMs, _value.Span(0, _held));
        (_expireAtMs, _key) = (0, "");
        if (_value.Capacity > ValueBytesMax >> 6)
            _value.Dispose(); // the next ones are as a rule small
    }

    // 0 is the beginning of 1970 here, and never to who takes it.
    private void TakeTime(long unixMs) =>
        _expireAtMs = unixMs >= 0 ? Math.Max(unixMs, 1) : throw Damage("a key expires at a time that cannot be");

    private void TakeValue(RdbType type)
    {
        switch (type)
        {
            case RdbType.String or RdbType.ZipMap or RdbType.ListZipList or RdbType.IntegerSet or RdbType.SortedSetZipList
                or RdbType.HashZipList or RdbType.HashListPack or RdbType.SortedSetListPack or RdbType.SetListPack:
                TakeString();
                break;
            case RdbType.List or RdbType.Set or RdbType.QuickList:
                TakeStrings(1);
                break;
            case RdbType.Hash:
                TakeStrings(2);
                break;
            case RdbType.SortedSetText or RdbType.SortedSet:
                TakeScores(type);
                break;
            case RdbType.QuickList2:
                for (ulong left = TakeLength(); left > 0; left--)
                {
                    TakeLength();
                    TakeString();
                }
                break;
            case RdbType.HashTimes:
                Take(sizeof(long));
                for (ulong left = TakeLength(); left > 0; left--)
                {
                    TakeLength();
                    TakeString();
                    TakeString();
                }
                break;
            case RdbType.HashTimesListPack:
                Take(sizeof(long));
                TakeString();
                break;
            case RdbType.Stream or RdbType.Stream2 or RdbType.Stream3:
                TakeStream(type);
                break;
            default:
                throw Damage($"a value is of type {(int)type}, which is not known here");
        }
    }

    private void TakeStrings(int each)
    {
        for (ulong left = TakeLength(); left > 0; left--)
        {
            for (int i = 0; i < each; i++) TakeString();
        }
    }

    private void TakeScores(RdbType type)
    {
        for (ulong left = TakeLength(); left > 0; left--)
        {
            TakeString();
            if (type == RdbType.SortedSet)
                Take(sizeof(double));
            else if (TakeByte() is <= PlainScoreMax and var length)
                Take(length);
        }
    }

    private void TakeStream(RdbType type)
    {
        TakeStrings(2);
        TakeLengths(type == RdbType.Stream ? 3 : 8);
        for (ulong groups = TakeLength(); groups > 0; groups--)
        {
            TakeString();
            TakeLengths(type == RdbType.Stream ? 2 : 3);
            for (ulong pending = TakeLength(); pending > 0; pending--)
            {
                Take(NodeIdBytes + sizeof(long));
                TakeLength();
            }
            for (ulong consumers = TakeLength(); consumers > 0; consumers--)
            {
                TakeString();
                Take(type == RdbType.Stream3 ? 2 * sizeof(long) : sizeof(long));
                for (ulong own = TakeLength(); own > 0; own--) Take(NodeIdBytes);
            }
        }
    }

    private void TakeLengths(int count)
    {
        for (int i = 0; i < count; i++) TakeLength();
    }

    // Says of itself where it ends: a number of the module, when it was written, then marked values.
    private void PassModule()
    {
        TakeLength();
        for (ulong mark; (mark = TakeLength()) != 0;)
        {
            switch (mark)
            {
                case ModuleFloat:
                    Take(sizeof(float));
                    break;
                case ModuleDouble:
                    Take(sizeof(double));
                    break;
                case ModuleString:
                    TakeString();
                    break;
                case < ModuleFloat:
                    TakeLength();
                    break;
                default:
                    throw Damage("what a module has left is damaged");
            }
        }
        Skipped++;
    }

    // A string in whatever form, which began at that place of what is held.
    private ReadOnlySpan<byte> TakeText(long start)
    {
        TakeString();
        var cursor = new RdbCursor(_value.Bytes + start, _value.Bytes + _held);
        if (!cursor.TryString(out Arg text))
        {
            cursor.Free();
            throw Damage("a name is damaged");
        }
        byte[] copy = text.Span.ToArray(); // what it was unpacked into goes with the cursor
        cursor.Free();
        return copy;
    }

    private void TakeString()
    {
        ulong length = TakeLength(out bool isSpecial);
        if (isSpecial && length > PackedForm)
            throw Damage("a string is in a form that is not known");
        if (isSpecial && length < PackedForm)
        {
            Take(1L << (int)length);
            return;
        }
        if (isSpecial)
        {
            length = TakeLength();
            if (TakeLength() > (ulong)ValueBytesMax)
                throw Damage("a string is longer than 512 MiB");
        }
        if (length > (ulong)ValueBytesMax)
            throw Damage("a string is longer than 512 MiB");
        Take((long)length);
    }

    private ulong TakeLength()
    {
        ulong length = TakeLength(out bool isSpecial);
        return isSpecial ? throw Damage("there is no number where one belongs") : length;
    }

    private ulong TakeLength(out bool isSpecial)
    {
        byte first = TakeByte();
        isSpecial = first >> 6 == SpecialForm;
        switch (first >> 6)
        {
            case 0 or SpecialForm:
                return first & 0x3FUL;
            case 1:
                return ((first & 0x3FUL) << 8) | TakeByte();
            default:
                int size = first == 0x80 ? sizeof(uint) : first == 0x81 ? sizeof(ulong)
                    : throw Damage("a number is in a form that is not known");
                Take(size);
                ReadOnlySpan<byte> bytes = _value.Span(_held - size, size);
                return size == sizeof(uint) ? BinaryPrimitives.ReadUInt32BigEndian(bytes) : BinaryPrimitives.ReadUInt64BigEndian(bytes);
        }
    }

    private byte TakeByte()
    {
        Take(1);
        return _value.Bytes[_held - 1];
    }

    // Everything passes here: counted, in the checksum, and behind what is held.
    private void Take(long bytes)
    {
        if (bytesMax >= 0 && bytes > bytesMax - Read)
            throw Damage("they end in the middle");
        if (_held + bytes > ValueBytesMax)
            throw Damage("a value is larger than 512 MiB as a whole, which no RESTORE takes");
        while (bytes > 0)
        {
            if (from.Held == 0)
                from.Receive();
            long part = Math.Min(bytes, from.Held);
            if (_held + part > _value.Capacity)
                _value.Grow(Math.Max(_held + part, Math.Min(_value.Capacity * 2, ValueBytesMax + FooterBytes)), _held);
            new ReadOnlySpan<byte>(from.At, (int)part).CopyTo(_value.Span(_held, part));
            _crc = Crc64.Append(_crc, from.At, part);
            from.Skip(part);
            (_held, Read, bytes) = (_held + part, Read + part, bytes - part);
        }
    }

    private void JudgeChecksum()
    {
        if (_version < CrcSince)
            return;
        ulong seen = _crc;
        _held = 0;
        Take(CrcBytes);
        ulong written = BinaryPrimitives.ReadUInt64LittleEndian(_value.Span(0, CrcBytes));
        if (written != 0 && written != seen) // 0: rdbchecksum no
            throw Damage("the checksum is wrong");
    }
}
