using System.Buffers.Binary;
using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// Reads the entries of an RDB file, whatever they are, from bytes that nobody vouches for. One that is not taken has changed nothing: where more bytes
/// are to come it is read again once they are there.
/// </summary>
public sealed unsafe class RdbEntries(IRdbEntries to) : IDisposable
{
    private const int SlackBytes = 64, ShownMax = 64;
    private const int ModuleEnd = 0, ModuleFloat = 3, ModuleDouble = 4, ModuleString = 5;
    private const string Damaged = "an entry is damaged";

    private readonly NativeArray<byte> _key = new(Store.KeyBytesMax + SlackBytes);
    private long _expireAtMs;
    private ulong _tag;

    /// <summary>One entry: null if it was taken, or is the end; else why it was not.</summary>
    public string? Take(ref RdbCursor from, out bool isEnd)
    {
        isEnd = false;
        if (!from.TryByte(out byte first))
            return "it ends in the middle";
        switch ((RdbMark)first)
        {
            case RdbMark.End:
                isEnd = true;
                return null;
            case RdbMark.Auxiliary:
                return TakeField(ref from);
            case RdbMark.Sizes:
                return WhyNot(from.TryLength(out _) && from.TryLength(out _));
            case RdbMark.SlotInfo:
                return WhyNot(from.TryLength(out _) && from.TryLength(out _) && from.TryLength(out _));
            case RdbMark.Database:
                return from.TryLength(out ulong database) ? to.Select(database) : Damaged;
            case RdbMark.ExpiryMs:
                return WhyNot(from.TryInt64(out long ms) && TryExpire(ms));
            case RdbMark.ExpirySeconds:
                return WhyNot(from.TryBytes(4, out byte* seconds) && TryExpireAt(seconds));
            case RdbMark.Idle:
                return WhyNot(from.TryLength(out _));
            case RdbMark.Frequency:
                return WhyNot(from.TryByte(out _));
            case RdbMark.Function:
                return TakeFunction(ref from);
            case RdbMark.Module:
                return TakeModule(ref from);
            default:
                return TakeKey(ref from, (RdbType)first);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _key.Dispose();

    private static string? WhyNot(bool isSound) => isSound ? null : Damaged;

    private bool TryExpire(long ms)
    {
        if (ms <= 0)
            return false;
        _expireAtMs = ms;
        return true;
    }

    private bool TryExpireAt(byte* seconds)
    {
        _expireAtMs = BinaryPrimitives.ReadInt32LittleEndian(new ReadOnlySpan<byte>(seconds, sizeof(int))) * 1000L;
        return true;
    }

    private string? TakeFunction(ref RdbCursor from)
    {
        if (!from.TryString(out Arg source))
            return Damaged;
        to.TakeFunction(source.Span);
        return null;
    }

    private string? TakeModule(ref RdbCursor from)
    {
        if (!TrySkipModule(ref from))
            return Damaged;
        to.PassModule();
        return null;
    }

    // Which of ours it is shows before its text is read: a name may have been unpacked to where the next string will be.
    private string? TakeField(ref RdbCursor from)
    {
        if (!from.TryString(out Arg name))
            return Damaged;
        bool isTag = name.Span.SequenceEqual(OwnFields.ETag), isTime = name.Span.SequenceEqual(OwnFields.MemberTime);
        if (!from.TryString(out Arg text))
            return Damaged;
        if (!isTag && !isTime)
            return null;
        if (text.Length < sizeof(long) || (isTag && text.Length != sizeof(ulong)))
            return Damaged;
        if (isTag)
        {
            _tag = BinaryPrimitives.ReadUInt64LittleEndian(text.Span);
            return null;
        }

        long expireAtMs = BinaryPrimitives.ReadInt64LittleEndian(text.Span);
        var member = new Arg { Bytes = text.Bytes + sizeof(long), Length = text.Length - sizeof(long) };
        return expireAtMs > 0 ? to.TakeMemberTime(member, expireAtMs) : Damaged;
    }

    private string? TakeKey(ref RdbCursor from, RdbType type)
    {
        if (!from.TryString(out Arg name))
            return "a key is damaged";
        if (RdbDecoder.KindOf(type) == RecordKind.None)
            return $"the key {Shown(name)} is of type {(int)type}, which is not known here";
        if (name.Length > Store.KeyBytesMax)
            return $"a key is longer than {Store.KeyBytesMax} bytes, the most that fits here";
        name.Span.CopyTo(new Span<byte>(_key.Items, name.Length)); // the value may be unpacked to where the name is
        var key = new Arg { Bytes = _key.Items, Length = name.Length };
        using var value = new RdbValue();
        if (!RdbDecoder.TryRead(ref from, type, value))
            return $"the value of the key {Shown(key)} is damaged";
        value.ETag = _tag;
        string? why = to.Take(key, value, _expireAtMs);
        if (why is null)
            (_expireAtMs, _tag) = (0, 0);
        return why;
    }

    // Says of itself where it ends: a number of the module, when it was written, then marked values.
    private static bool TrySkipModule(ref RdbCursor from)
    {
        if (!from.TryLength(out _))
            return false;
        while (from.TryLength(out ulong mark))
        {
            bool sound = mark switch
            {
                ModuleEnd => true,
                ModuleFloat => from.TryBytes(4, out _),
                ModuleDouble => from.TryBytes(8, out _),
                ModuleString => from.TryString(out _),
                < ModuleFloat => from.TryLength(out _),
                _ => false,
            };
            if (mark == ModuleEnd || !sound)
                return sound;
        }

        return false;
    }

    internal static string Shown(Arg text) => Encoding.Latin1.GetString(text.Span[..Math.Min(text.Length, ShownMax)]);
}
