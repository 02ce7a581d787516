using System.Runtime.CompilerServices;
using System.Text;

namespace Garnet.Lua;

/// <summary>
/// The values that a Lua thread hands to a function of ours, and where that puts its results. Nothing here runs a script or
/// raises an error, as long as the limit of memory is off (lua.L1): tables are read and written raw, numbers are not made strings.
/// </summary>
public readonly unsafe struct LuaStack(nint thread)
{
    /// <summary>What stands before an error: see <c>prelude.lua</c>.</summary>
    public const nint FailureMark = 1;

    public nint Thread => thread;

    /// <summary>Values on the stack.</summary>
    public int Count => LuaApi.GetTop(thread);

    public int TypeAt(int index) => LuaApi.TypeOf(thread, index);

    public bool IsString(int index) => LuaApi.TypeOf(thread, index) == LuaType.String;

    public bool IsTable(int index) => LuaApi.TypeOf(thread, index) == LuaType.Table;

    public bool IsNumber(int index) => LuaApi.TypeOf(thread, index) == LuaType.Number;

    /// <summary>The bytes of a value that is a string; they stay where they are while it is on the stack.</summary>
    public ReadOnlySpan<byte> Bytes(int index)
    {
        byte* at = Pointer(index, out int length);
        return new ReadOnlySpan<byte>(at, length);
    }

    public byte* Pointer(int index, out int length)
    {
        nuint bytes;
        byte* at = LuaApi.ToText(thread, index, &bytes);
        length = checked((int)bytes); // lua.L4
        return at;
    }

    public double Number(int index) => LuaApi.ToNumber(thread, index, null);

    public bool Boolean(int index) => LuaApi.ToBoolean(thread, index) != 0;

    /// <summary>A number, or a string that spells one up to its end or a zero byte.</summary>
    public bool TryNumber(int index, out double value)
    {
        int isNumber;
        value = LuaApi.ToNumber(thread, index, &isNumber);
        if (isNumber != 0 || !IsString(index) || Bytes(index).IndexOf((byte)0) is not (>= 0 and var zero))
            return isNumber != 0;
        Push(Bytes(index)[..zero]);
        value = LuaApi.ToNumber(thread, -1, &isNumber);
        Drop(1);
        return isNumber != 0;
    }

    public void Push(ReadOnlySpan<byte> text)
    {
        fixed (byte* at = text)
            _ = LuaApi.PushString(thread, at, (nuint)text.Length);
    }

    /// <summary>The same if the state can hold it.</summary>
    public bool TryPush(ReadOnlySpan<byte> text)
    {
        if (!LuaState.HasRoom(this, text.Length))
            return false;
        Push(text);
        return true;
    }

    public void Push(string text) => Push(Encoding.UTF8.GetBytes(text));

    public void Push(double value) => LuaApi.PushNumber(thread, value);

    public void Push(bool value) => LuaApi.PushBoolean(thread, value ? 1 : 0);

    public void PushNil() => LuaApi.PushNil(thread);

    public void PushCopy(int index) => LuaApi.PushCopy(thread, index);

    public void NewTable(int items, int fields) => LuaApi.CreateTable(thread, items, fields);

    /// <summary>Takes the value on top into a table's item.</summary>
    public void SetItem(int table, long index) => LuaApi.RawSetIndex(thread, table, index);

    /// <summary>Takes the key and the value on top into a table.</summary>
    public void Set(int table) => LuaApi.RawSet(thread, table);

    /// <summary>Takes the value on top into a field of the table below it.</summary>
    public void SetField(ReadOnlySpan<byte> name)
    {
        Push(name);
        PushCopy(-2);
        Set(-4);
        Drop(1);
    }

    /// <summary>Pushes a field of a table; returns its type.</summary>
    public int Field(int table, ReadOnlySpan<byte> name)
    {
        int at = Absolute(table);
        Push(name);
        return LuaApi.RawGet(thread, at);
    }

    /// <summary>Pushes an item of a table; returns its type.</summary>
    public int Item(int table, long index) => LuaApi.RawGetIndex(thread, table, index);

    /// <summary>From the key on top to the next pair of a table; false, with nothing on top, behind the last.</summary>
    public bool Next(int table) => LuaApi.Next(thread, table) != 0;

    public long Length(int index) => (long)LuaApi.RawLength(thread, index);

    /// <summary>Takes the value on top to another place.</summary>
    public void Replace(int index)
    {
        LuaApi.Copy(thread, -1, index);
        Drop(1);
    }

    public void Drop(int count) => LuaApi.SetTop(thread, -count - 1);

    public void SetCount(int count) => LuaApi.SetTop(thread, count);

    public int Absolute(int index) => index > 0 ? index : Count + index + 1;

    /// <summary>Room for so many values more, and for a function of ours to call itself; false if the script has nested too deeply.</summary>
    public bool Reserve(int count) => RuntimeHelpers.TryEnsureSufficientExecutionStack() && LuaApi.CheckStack(thread, count) != 0;

    /// <summary>Ends the function with an error that has the place of the caller in front.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Fail(ReadOnlySpan<byte> text) => Fail(text, isPlaced: true);

    /// <summary>Ends the function with an error.</summary>
    public int Fail(ReadOnlySpan<byte> text, bool isPlaced)
    {
        LuaApi.PushPointer(thread, FailureMark);
        Push(text);
        Push(isPlaced);
        return 3;
    }

    /// <summary>A number as an integer reply: without its fraction, as a cast in C does it on x64.</summary>
    public static long Whole(double value) => value is >= -9.2233720368547758e18 and < 9.2233720368547758e18 ? (long)value : long.MinValue;
}
