using System.Runtime.InteropServices;

namespace Garnet.Lua;

/// <summary>
/// The functions of the native Lua 5.4 library, as pointers: nothing is marshalled, and those that neither allocate nor run a
/// script leave out the switch of the garbage collector's mode. Loaded with the first script.
/// </summary>
internal static unsafe class LuaApi
{
    internal const int Ok = 0, ErrorOfMemory = 4, Multiple = -1, RegistryIndex = -1_001_000, CountMask = 8;
    internal const int CollectAll = 2, CollectStep = 5;

    internal static readonly delegate* unmanaged[Cdecl]<
        delegate* unmanaged[Cdecl]<void*, void*, nuint, nuint, void*>, void*, nint> NewState =
        (delegate* unmanaged[Cdecl]<delegate* unmanaged[Cdecl]<void*, void*, nuint, nuint, void*>, void*, nint>)Find("lua_newstate");
    internal static readonly delegate* unmanaged[Cdecl]<nint, void> Close = (delegate* unmanaged[Cdecl]<nint, void>)Find("lua_close");
    internal static readonly delegate* unmanaged[Cdecl]<nint, void> OpenLibraries =
        (delegate* unmanaged[Cdecl]<nint, void>)Find("luaL_openlibs");
    internal static readonly delegate* unmanaged[Cdecl]<nint, byte*, nuint, byte*, byte*, int> Load =
        (delegate* unmanaged[Cdecl]<nint, byte*, nuint, byte*, byte*, int>)Find("luaL_loadbufferx");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int, int, nint, nint, int> ProtectedCall =
        (delegate* unmanaged[Cdecl]<nint, int, int, int, nint, nint, int>)Find("lua_pcallk");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int, int, int> Collect =
        (delegate* unmanaged[Cdecl]<nint, int, int, int, int>)Find("lua_gc");
    internal static readonly delegate* unmanaged[Cdecl]<nint, nint, int, int, void> SetHook =
        (delegate* unmanaged[Cdecl]<nint, nint, int, int, void>)Find("lua_sethook");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int, byte*> SetUpvalue =
        (delegate* unmanaged[Cdecl]<nint, int, int, byte*>)Find("lua_setupvalue");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int> Reference =
        (delegate* unmanaged[Cdecl]<nint, int, int>)Find("luaL_ref");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int, void> Unreference =
        (delegate* unmanaged[Cdecl]<nint, int, int, void>)Find("luaL_unref");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int> CheckStack =
        (delegate* unmanaged[Cdecl]<nint, int, int>)Find("lua_checkstack");
    internal static readonly delegate* unmanaged[Cdecl]<nint, byte*, nuint, byte*> PushString =
        (delegate* unmanaged[Cdecl]<nint, byte*, nuint, byte*>)Find("lua_pushlstring");
    internal static readonly delegate* unmanaged[Cdecl]<nint, nint, int, void> PushFunction =
        (delegate* unmanaged[Cdecl]<nint, nint, int, void>)Find("lua_pushcclosure");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int, void> CreateTable =
        (delegate* unmanaged[Cdecl]<nint, int, int, void>)Find("lua_createtable");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, void> RawSet =
        (delegate* unmanaged[Cdecl]<nint, int, void>)Find("lua_rawset");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, long, void> RawSetIndex =
        (delegate* unmanaged[Cdecl]<nint, int, long, void>)Find("lua_rawseti");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int> SetMetatable =
        (delegate* unmanaged[Cdecl]<nint, int, int>)Find("lua_setmetatable");
    internal static readonly delegate* unmanaged[Cdecl]<nint, int, int> Next = (delegate* unmanaged[Cdecl]<nint, int, int>)Find("lua_next");

    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int> GetHookCount =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int>)Find("lua_gethookcount");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int> GetTop =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int>)Find("lua_gettop");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, void> SetTop =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, void>)Find("lua_settop");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int> TypeOf =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int>)Find("lua_type");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int> ToBoolean =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int>)Find("lua_toboolean");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int*, double> ToNumber =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int*, double>)Find("lua_tonumberx");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, nuint*, byte*> ToText =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, nuint*, byte*>)Find("lua_tolstring");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, ulong> RawLength =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, ulong>)Find("lua_rawlen");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int, void> Copy =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int, void>)Find("lua_copy");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, nint> ToUserdata =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, nint>)Find("lua_touserdata");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, nint> ToThread =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, nint>)Find("lua_tothread");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, void> PushNil =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, void>)Find("lua_pushnil");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, double, void> PushNumber =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, double, void>)Find("lua_pushnumber");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, void> PushBoolean =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, void>)Find("lua_pushboolean");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, nint, void> PushPointer =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, nint, void>)Find("lua_pushlightuserdata");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, void> PushCopy =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, void>)Find("lua_pushvalue");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, long, int> RawGetIndex =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, long, int>)Find("lua_rawgeti");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int> GetMetatable =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int>)Find("lua_getmetatable");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int, int> RawEqual =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int, int>)Find("lua_rawequal");
    internal static readonly delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int> RawGet =
        (delegate* unmanaged[Cdecl, SuppressGCTransition]<nint, int, int>)Find("lua_rawget");

    /// <summary>
    /// The library's own function that raises what lies on the stack, to be set as a hook: a hook of ours must not raise anything,
    /// since the jump would pass over managed frames.
    /// </summary>
    internal static readonly nint Raise = Find("lua_error");

    private static nint Find(string name) => NativeLibrary.GetExport(LuaLibrary.Handle, name);
}
