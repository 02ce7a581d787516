namespace Garnet.Lua;

/// <summary>What a value is, as Lua's own library numbers it (lua.h).</summary>
public static class LuaType
{
    /// <summary>nil.</summary>
    public const int Nil = 0;

    /// <summary>true or false.</summary>
    public const int Boolean = 1;

    /// <summary>An address of ours (light userdata).</summary>
    public const int Pointer = 2;

    /// <summary>A number.</summary>
    public const int Number = 3;

    /// <summary>Bytes.</summary>
    public const int String = 4;

    /// <summary>A table.</summary>
    public const int Table = 5;

    /// <summary>A function, of a script or of ours.</summary>
    public const int Function = 6;
}
