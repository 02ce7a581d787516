using Garnet.Common.Bytes;
using Garnet.Lua;

namespace Garnet.Server.Families.Scripting;

/// <summary>A reply in the protocol's own form as values of a script. The server wrote it: it is whole and well-formed.</summary>
internal unsafe ref struct ReplyToLua(byte* at, byte* end, LuaStack stack)
{
    private const int RoomPerLevel = 6, ItemsPerLook = 1024, ItemBytes = 16;

    private byte* _at = at;
    private int _items;
    private bool _isTooMuch;

    /// <summary>Pushes the reply; false, with something else on top, if the state cannot hold it.</summary>
    internal bool TryPush()
    {
        _isTooMuch = !LuaState.HasRoom(stack, end - _at);
        PushOne();
        return !_isTooMuch;
    }

    // A small reply may be many values.
    private void Weigh(long more)
    {
        if (more > ItemsPerLook || ++_items % ItemsPerLook == 0)
            _isTooMuch |= !LuaState.HasRoom(stack, more * ItemBytes) || LuaState.Look(stack);
    }

    private ReadOnlySpan<byte> Line()
    {
        byte* start = ++_at; // behind the type's letter
        while (_at < end && *_at != '\r')
            _at++;
        var line = new ReadOnlySpan<byte>(start, (int)(_at - start));
        _at += 2;
        return line;
    }

    private long Number()
    {
        _ = NumberText.TryInt64(Line(), out long value);
        return value;
    }

    private ReadOnlySpan<byte> Block(int length)
    {
        var block = new ReadOnlySpan<byte>(_at, length);
        _at += length + 2;
        return block;
    }

    private void PushOne()
    {
        Weigh(0);
        _isTooMuch |= !stack.Reserve(RoomPerLevel); // the script has taken almost all the stack there is
        if (_isTooMuch)
        {
            stack.PushNil();
            return;
        }

        switch ((char)*_at)
        {
            case ':':
                stack.Push((double)Number());
                break;
            case '$':
                PushBulk(Number());
                break;
            case '*' or '>':
                PushArray(Number());
                break;
            case '%':
                PushMap(Number());
                break;
            case '~':
                PushSet(Number());
                break;
            default:
                PushSimple((char)*_at);
                break;
        }
    }

    private void PushSimple(char type)
    {
        switch (type)
        {
            case '+':
                PushField("ok"u8, Line());
                break;
            case '-':
                PushField("err"u8, Line());
                break;
            case '#':
                stack.Push(Line().SequenceEqual("t"u8));
                break;
            case ',':
                PushDouble(Line());
                break;
            case '=':
                PushVerbatim(Block((int)Number()));
                break;
            case '(':
                PushField("big_number"u8, Line());
                break;
            default:
                Line();
                stack.PushNil();
                break;
        }
    }

    private void PushBulk(long length)
    {
        if (length < 0)
            stack.Push(false);
        else
            stack.Push(Block((int)length));
    }

    private void PushArray(long count)
    {
        if (count < 0)
        {
            stack.Push(false);
            return;
        }

        Weigh(count);
        stack.NewTable(_isTooMuch ? 0 : (int)count, 0);
        for (long i = 1; i <= count && !_isTooMuch; i++)
        {
            PushOne();
            stack.SetItem(-2, i);
        }
    }

    private void PushMap(long pairs)
    {
        stack.NewTable(0, 1);
        stack.Push("map"u8);
        Weigh(pairs * 3);
        stack.NewTable(0, _isTooMuch ? 0 : (int)pairs);
        for (long i = 0; i < pairs && !_isTooMuch; i++)
        {
            PushOne();
            PushOne();
            SetUnlessNil();
        }

        stack.Set(-3);
    }

    private void PushSet(long count)
    {
        stack.NewTable(0, 1);
        stack.Push("set"u8);
        Weigh(count * 3);
        stack.NewTable(0, _isTooMuch ? 0 : (int)count);
        for (long i = 0; i < count && !_isTooMuch; i++)
        {
            PushOne();
            stack.Push(true);
            SetUnlessNil();
        }

        stack.Set(-3);
    }

    // A table takes no nil for a key.
    private readonly void SetUnlessNil()
    {
        if (stack.TypeAt(-2) == LuaType.Nil)
            stack.Drop(2);
        else
            stack.Set(-3);
    }

    private readonly void PushField(ReadOnlySpan<byte> name, ReadOnlySpan<byte> text)
    {
        stack.NewTable(0, 1);
        stack.Push(text);
        stack.SetField(name);
    }

    private readonly void PushDouble(ReadOnlySpan<byte> text)
    {
        stack.NewTable(0, 1);
        stack.Push(text.SequenceEqual("inf"u8) ? double.PositiveInfinity
            : text.SequenceEqual("-inf"u8) ? double.NegativeInfinity
            : double.TryParse(text, System.Globalization.CultureInfo.InvariantCulture, out double value) ? value : double.NaN);
        stack.SetField("double"u8);
    }

    private readonly void PushVerbatim(ReadOnlySpan<byte> text)
    {
        stack.NewTable(0, 1);
        stack.NewTable(0, 2);
        stack.Push(text[4..]);
        stack.SetField("string"u8);
        stack.Push(text[..3]);
        stack.SetField("format"u8);
        stack.SetField("verbatim_string"u8);
    }
}
