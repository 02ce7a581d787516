using Garnet.Types.Collections;

namespace Garnet.Types.Streams;

/// <summary>Goes through the names and values of an entry, one text after the other.</summary>
public unsafe struct StreamFields
{
    private byte* _heads;
    private byte* _name;
    private byte* _value;
    private uint _mask;
    private int _texts;
    private bool _hasOwnNames, _atValue;

    /// <summary>Stands before the first name.</summary>
    public static StreamFields Of(in StreamPage page, in StreamEntry entry)
    {
        var fields = new StreamFields
        {
            _value = entry.Values,
            _mask = entry.Mask,
            _texts = entry.Fields * 2,
            _hasOwnNames = entry.HasOwnNames,
        };
        if (fields._hasOwnNames)
            return fields;
        page.Fields(out fields._heads);
        fields._name = fields._heads + entry.Fields;
        return fields;
    }

    /// <summary>The next name or value; what is packed is written to the room of <see cref="StreamText.RoomBytes"/>.</summary>
    public bool Next(byte* room, out ReadOnlySpan<byte> text)
    {
        text = default;
        if (_texts-- == 0)
            return false;
        if (_hasOwnNames)
        {
            _value = StreamText.Read(*_value, _value + 1, room, out text);
            return true;
        }

        if (_atValue)
            TakeValue(room, out text);
        else
            TakeName(out text);
        _atValue = !_atValue;
        return true;
    }

    /// <summary>The names that entries without names of their own have.</summary>
    public static ReadOnlySpan<byte> NextName(ref byte* at)
    {
        VarInt.TryRead(ref at, (byte*)nuint.MaxValue, out uint length);
        var name = new ReadOnlySpan<byte>(at, (int)length);
        at = StreamText.Skip(at + length);
        return name;
    }

    private void TakeName(out ReadOnlySpan<byte> text)
    {
        VarInt.TryRead(ref _name, (byte*)nuint.MaxValue, out uint length);
        text = new ReadOnlySpan<byte>(_name, (int)length);
        _name += length;
    }

    private void TakeValue(byte* room, out ReadOnlySpan<byte> text)
    {
        if ((_mask & 1) != 0)
        {
            _value = StreamText.Read(*_heads, _value, room, out text);
        }
        else
        {
            byte* value = *_value == StreamText.Same ? _name : _value;
            StreamText.Read(*value, value + 1, room, out text);
            _value = StreamText.Skip(_value);
        }

        _heads++;
        _mask >>= 1;
        _name = StreamText.Skip(_name);
    }
}
