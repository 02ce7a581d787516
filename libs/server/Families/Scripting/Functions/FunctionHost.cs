using System.Text;
using Garnet.Common.Resp;
using Garnet.Lua;
using Garnet.Lua.Dialect;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Rdb;
using Garnet.Server.Scripting;
using Tsavorite;

namespace Garnet.Server.Families.Scripting.Functions;

/// <summary>
/// The functions on one reactor: loaded into its state when somebody asks for one, and anew when what is kept has changed.
///
/// scripting.F1  What a library does when it is loaded it does once per state: it registers functions and can call no command. What it
///     remembers outside of the store, each reactor remembers for itself.
/// </summary>
internal sealed class FunctionHost(Executor worker, Func<LuaState> open) : IDisposable
{
    private readonly FunctionRecord _record = new();
    private volatile FunctionSet _set = FunctionSet.Empty; // others read it while a script runs here
    private FunctionLibrary? _loading;

    /// <summary>The functions there are now.</summary>
    internal FunctionSet Current()
    {
        if (_record.Mark(worker.Store, worker.Session) is var mark && mark == _set.Mark)
            return _set;
        List<byte[]> sources =
            _record.Read(worker.Store, worker.Session, [.. _set.Libraries.Select(static library => library.Source)], out mark);
        var libraries = new List<FunctionLibrary>();
        foreach (byte[] source in sources)
        {
            if (TryLoad(source, out string error) is { } library)
                libraries.Add(library);
            else
                worker.Server.Log.Script(3, "A library of functions cannot be loaded: " + error);
        }

        Forget(_set.Libraries);
        return _set = new FunctionSet(mark, libraries);
    }

    /// <summary>The functions that are kept now, for the worker that asks; a server that keeps none loads nothing for that.</summary>
    internal static FunctionSet Kept(Worker asker)
    {
        var worker = (Executor)asker;
        if (worker.Server.Replication.IsLoading || (!worker.HasScripts && !Keeps(worker)))
            return FunctionSet.Empty;
        return ScriptHost.Of(worker).Functions.Known(worker.Server);
    }

    private static bool Keeps(Executor worker)
    {
        using FunctionRecord record = new();
        return record.Mark(worker.Store, worker.Session) != Guid.Empty;
    }

    /// <summary>The functions there are; while a script holds the store, those that its reactor knew when it began.</summary>
    internal FunctionSet Known(ServerContext server)
    {
        foreach (Worker other in server.Workers.All)
        {
            if (other.Script is not null)
                return ScriptHost.Of(other).Functions._set;
        }

        return Current();
    }

    /// <summary>Runs a library in the state; null with the error, its code in front.</summary>
    internal FunctionLibrary? TryLoad(byte[] source, out string error)
    {
        if (FunctionLibrary.Read(source, out error) is not { } library)
            return null;
        LuaState lua = open();
        int number = lua.Compile(Translator.Translate(source), isLibrary: true, out string problem);
        if (number == 0)
        {
            error = "ERR Error compiling function: " + problem;
            return null;
        }

        _loading = library;
        lua.PushKept(number);
        ScriptHost.Of(worker).BeginLoad();
        bool loaded = lua.Call(0);
        bool late = ScriptHost.Of(worker).EndLoad();
        _loading = null;
        if (!loaded)
            error = late
                ? "ERR Error registering functions: ERR FUNCTION LOAD timeout"
                : "ERR Error registering functions: " + Cause(lua.Stack);
        else if (library.Functions.Count == 0)
            error = "ERR No functions registered";
        lua.Clear();
        lua.Forget(number);
        if (error.Length == 0)
            return library;
        Forget([library]);
        return null;
    }

    /// <summary>Keeps other libraries than now, from the texts that <paramref name="choose"/> returns, or refuses with an error.</summary>
    internal Reply Change(ref Call call, Func<FunctionSet, (List<byte[]>? Sources, string Error)> choose)
    {
        Store store = worker.Store;
        call.Session.Lock([_record.Key(store)]);
        (List<byte[]>? sources, string error) = choose(Current());
        Outcome outcome = Outcome.Done;
        if (sources is not null)
            outcome = _record.Write(store, call.Session, sources, out _);
        call.Session.Unlock();
        if (sources is null)
            return call.FailText(error);
        if (outcome == Outcome.OutOfMemory)
            return call.Fail(Fault.NoRoomForLibraries);
        return outcome == Outcome.Done ? Reply.Sent : call.From(outcome);
    }

    /// <summary>Forgets what a library that was only tried has registered.</summary>
    internal void Forget(IReadOnlyList<FunctionLibrary> libraries)
    {
        foreach (Function function in libraries.SelectMany(static library => library.Functions))
            open().Forget(function.Reference);
    }

    /// <summary>The state is gone, and the functions in it.</summary>
    internal void ForgetState() => _set = FunctionSet.Empty;

    /// <summary>redis.register_function(name, callback), or with one table of named arguments.</summary>
    internal int Register(LuaStack stack)
    {
        if (_loading is not { } library)
            return Fail(stack, "redis.register_function can only be called on FUNCTION LOAD command");
        int count = stack.Count;
        if (count is < 1 or > 2)
            return Fail(stack, "wrong number of arguments to redis.register_function");
        string? name = null, description = null, error;
        ScriptFlags flags = ScriptFlags.None;
        int callback = 0;
        error = count == 1
            ? ReadNamed(stack, ref name, ref description, ref flags, ref callback)
            : ReadPlain(stack, ref name, ref callback);
        if (error is null && !Function.IsName(name!))
            error = "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";
        else if (error is null && library.Functions.Exists(other => other.Name == name))
            error = "Function already exists in the library";
        if (error is not null)
            return Fail(stack, error);
        stack.PushCopy(callback);
        library.Functions.Add(new Function(name!, description, flags | ScriptFlags.HasShebang, LuaState.KeepTop(stack))
            { IsOrdered = library.IsOrdered });
        return 0;
    }

    /// <inheritdoc/>
    public void Dispose() => _record.Dispose();

    private static int Fail(LuaStack stack, string error) => stack.Fail(Encoding.Latin1.GetBytes(error), isPlaced: false);

    private static string Cause(LuaStack stack)
    {
        if (stack.IsTable(-1) && stack.Field(-1, "err"u8) != LuaType.String)
            stack.Drop(1);
        return stack.IsString(-1) ? Encoding.Latin1.GetString(stack.Bytes(-1)) : ScriptEnd.Unknown;
    }

    private static string? ReadPlain(LuaStack stack, ref string? name, ref int callback)
    {
        if (!stack.IsString(1))
            return "first argument to redis.register_function must be a string";
        if (stack.TypeAt(2) != LuaType.Function)
            return "second argument to redis.register_function must be a function";
        name = Encoding.Latin1.GetString(stack.Bytes(1));
        callback = 2;
        return null;
    }

    private static string? ReadNamed(LuaStack stack, ref string? name, ref string? description, ref ScriptFlags flags, ref int callback)
    {
        if (!stack.IsTable(1))
            return "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).";
        stack.PushNil();
        string? error = null;
        while (error is null && stack.Next(1))
        {
            string key = stack.IsString(-2) ? Encoding.Latin1.GetString(stack.Bytes(-2)) : "";
            error = key switch
            {
                "" => "named argument key given to redis.register_function is not a string",
                "function_name" => TakeText(stack, key, ref name),
                "description" => TakeText(stack, key, ref description),
                "callback" => stack.TypeAt(-1) == LuaType.Function
                    ? null
                    : "callback argument given to redis.register_function must be a function",
                "flags" => TakeFlags(stack, ref flags),
                _ => "unknown argument given to redis.register_function",
            };
            stack.Drop(1);
        }

        if (error is not null)
            return error;
        if (name is null)
            return "redis.register_function must get a function name argument";
        if (stack.Field(1, "callback"u8) != LuaType.Function)
            return "redis.register_function must get a callback argument";
        callback = stack.Count;
        return null;
    }

    private static string? TakeText(LuaStack stack, string key, ref string? text)
    {
        if (!stack.IsString(-1))
            return $"{key} argument given to redis.register_function must be a string";
        text = Encoding.Latin1.GetString(stack.Bytes(-1));
        return null;
    }

    private static string? TakeFlags(LuaStack stack, ref ScriptFlags flags)
    {
        if (!stack.IsTable(-1))
            return "flags argument to redis.register_function must be a table representing function flags";
        for (int i = 1; stack.Item(-1, i) != LuaType.Nil; i++)
        {
            bool known = stack.IsString(-1) && Script.TryFlags(Encoding.Latin1.GetString(stack.Bytes(-1)), ref flags, out _);
            stack.Drop(1);
            if (!known)
                return "unknown flag given";
        }

        stack.Drop(1);
        return null;
    }
}
