using Garnet.Common.Resp;
using Garnet.Lua;

namespace Garnet.Server.Families.Scripting;

/// <summary>
/// What a script returns, as a reply. Tables are looked at raw; one nested too deeply, perhaps in itself, ends in an error. A table may
/// lie in many places: a small one can stand for a reply without end, which is given up at so many bytes or when the script is to end.
/// </summary>
internal unsafe ref struct LuaToReply(LuaStack stack, RespWriter to, bool isResp3, long bytesMax)
{
    private const int ValuesPerLook = 256;

    private const int RoomPerLevel = 6;
    // As many levels as a stack of 8,000 values lets redis go.
    private const int DepthMax = 1_000;

    private readonly long _before = to.ReplyBytes;
    private int _values;
    private bool _isGivenUp;

    /// <summary>Writes the value on top, and takes it; false if it has been given up.</summary>
    internal bool TryWrite()
    {
        Write(0);
        return !_isGivenUp && !IsToGiveUp();
    }

    private void Write(int depth)
    {
        if (_isGivenUp || IsToGiveUp())
        {
            stack.Drop(1);
            return;
        }

        if (depth > DepthMax || !stack.Reserve(RoomPerLevel))
        {
            to.Error("ERR reached lua stack limit"u8);
            stack.Drop(1);
            return;
        }

        switch (stack.TypeAt(-1))
        {
            case LuaType.String:
                to.Bulk(stack.Bytes(-1));
                break;
            case LuaType.Number:
                to.Int(LuaStack.Whole(stack.Number(-1)));
                break;
            case LuaType.Boolean:
                WriteBoolean(stack.Boolean(-1));
                break;
            case LuaType.Table:
                WriteTable(depth);
                break;
            default:
                to.Null();
                break;
        }

        stack.Drop(1);
    }

    private bool IsToGiveUp() =>
        _isGivenUp = to.ReplyBytes - _before > bytesMax || (++_values % ValuesPerLook == 0 && LuaState.Look(stack));

    private void WriteBoolean(bool value)
    {
        if (isResp3)
            to.Bool(value);
        else if (value)
            to.Int(1);
        else
            to.Null();
    }

    private void WriteTable(int depth)
    {
        _isGivenUp = LuaState.Look(stack); // it may be small and have a lot of room
        if (TakeText("err"u8, out ReadOnlySpan<byte> text))
            to.Error(text);
        else if (TakeText("ok"u8, out text))
            to.Simple(text);
        else if (stack.Field(-1, "double"u8) == LuaType.Number)
            WriteDouble();
        else
            WriteLarger(depth);
    }

    private void WriteDouble()
    {
        to.Double(stack.Number(-1));
        stack.Drop(1);
    }

    // What was looked for last still lies on top.
    private void WriteLarger(int depth)
    {
        stack.Drop(1);
        if (stack.Field(-1, "map"u8) == LuaType.Table)
        {
            WriteMap(depth);
            return;
        }

        stack.Drop(1);
        if (stack.Field(-1, "set"u8) == LuaType.Table)
        {
            WriteSet(depth);
            return;
        }

        stack.Drop(1);
        if (stack.Field(-1, "big_number"u8) == LuaType.String)
        {
            WriteBigNumber();
            return;
        }

        stack.Drop(1);
        if (!TryWriteVerbatim())
            WriteArray(depth);
    }

    // The text stays where it is: the table holds it.
    private readonly bool TakeText(ReadOnlySpan<byte> name, out ReadOnlySpan<byte> text)
    {
        bool found = stack.Field(-1, name) == LuaType.String;
        text = found ? stack.Bytes(-1) : default;
        stack.Drop(1);
        return found;
    }

    private void WriteMap(int depth)
    {
        int pairs = CountPairs();
        to.Map(pairs);
        stack.PushNil();
        while (!_isGivenUp && stack.Next(-2))
        {
            stack.PushCopy(-2);
            Write(depth + 1);
            Write(depth + 1);
        }

        stack.Drop(1);
    }

    private void WriteSet(int depth)
    {
        to.Set(CountPairs());
        stack.PushNil();
        while (!_isGivenUp && stack.Next(-2))
        {
            stack.Drop(1);
            stack.PushCopy(-1);
            Write(depth + 1);
        }

        stack.Drop(1);
    }

    private readonly int CountPairs()
    {
        int pairs = 0;
        stack.PushNil();
        while (stack.Next(-2))
        {
            stack.Drop(1);
            pairs++;
        }

        return pairs;
    }

    private void WriteBigNumber()
    {
        if (to.Resp3)
            WriteLine("("u8, stack.Bytes(-1));
        else
            to.Bulk(stack.Bytes(-1));
        stack.Drop(1);
    }

    private void WriteLine(ReadOnlySpan<byte> type, ReadOnlySpan<byte> text)
    {
        byte[] line = text.ToArray();
        line.AsSpan().Replace((byte)'\r', (byte)' ');
        line.AsSpan().Replace((byte)'\n', (byte)' ');
        to.Raw([.. type, .. line, .. "\r\n"u8]);
    }

    private bool TryWriteVerbatim()
    {
        bool found = false;
        if (stack.Field(-1, "verbatim_string"u8) == LuaType.Table)
        {
            found = TakeText("format"u8, out ReadOnlySpan<byte> format) & TakeText("string"u8, out ReadOnlySpan<byte> text);
            if (found && to.Resp3)
                to.Raw([.. System.Text.Encoding.ASCII.GetBytes($"={text.Length + 4}\r\n"), .. Format(format), (byte)':', .. text,
                    .. "\r\n"u8]);
            else if (found)
                to.Bulk(text);
        }

        stack.Drop(1);
        return found;
    }

    // Always three characters.
    private static byte[] Format(ReadOnlySpan<byte> format)
    {
        byte[] three = "   "u8.ToArray();
        format[..Math.Min(format.Length, three.Length)].CopyTo(three);
        return three;
    }

    private void WriteArray(int depth)
    {
        int count = 0;
        while (stack.Item(-1, count + 1) != LuaType.Nil)
        {
            stack.Drop(1);
            count++;
        }

        stack.Drop(1);
        to.Array(count);
        for (int i = 1; i <= count && !_isGivenUp; i++)
        {
            stack.Item(-1, i);
            Write(depth + 1);
        }
    }
}
