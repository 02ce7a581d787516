using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Text;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Common.Time;
using Garnet.Lua.Dialect;

namespace Garnet.Lua;

/// <summary>
/// One native Lua state with the sandbox of <c>prelude.lua</c> in it, used by one thread.
///
/// lua.L2  Lua raises errors by a jump to the last protected call. No managed frame may lie between: every call into Lua is protected,
///     functions of ours return an error as values, which the prelude raises, and a hook lets the library itself raise.
/// lua.L3  A script sees nothing of the state but what the prelude has put into its globals, and can change none of it.
/// lua.L6  No exception leaves a function of ours: in a function of a library it is an error of the script, in a command it goes on where
///     the script was called.
/// lua.L7  A script that is to end ends within some milliseconds, whatever it does: nothing that it can call runs for long without a look at the
///     clock (<see cref="Look"/>), functions of the native library that would are not handed out; and whoever is told to stop is told again
///     in every thread that goes on.
/// </summary>
public sealed unsafe class LuaState : IDisposable
{
    private const int HookEvery = 1_000, HookOftenest = 4;
    private const long LookUs = 1_000; // a look at the clients costs microseconds
    // What lies at the bottom of the stack for good.
    private const int GlobalsAt = 1, HandlerAt = 2, KeysNameAt = 3, ArgsNameAt = 4, EnvironmentAt = 5, LibraryAt = 6, Fixed = 6;

    private readonly nint _thread;
    private readonly LuaMemory* _memory;
    private readonly Func<LuaStack, int>[] _functions;
    private readonly string[] _names;
    private readonly IClock _clock;
    private readonly Func<bool> _isToEnd;
    private GCHandle _self;
    private ExceptionDispatchInfo? _failure;
    private bool _isStopped;
    private int _hookEvery = HookEvery;
    private long _lookAtUs;
    private long _hookedUs;

    /// <summary>
    /// Opens a state whose scripts may call <paramref name="functions"/>, by name; every millisecond of a script it asks whether that is to end.
    /// </summary>
    /// <exception cref="GarnetException">There is no library of Lua.</exception>
    public LuaState(long memoryLimit, IReadOnlyList<KeyValuePair<string, Func<LuaStack, int>>> functions, IClock clock, Func<bool> isToEnd)
    {
        _ = LuaLibrary.Handle; // before any of its functions is looked up: a type whose constructor failed stays unusable
        _functions = [.. functions.Select(static function => function.Value)];
        _names = [.. functions.Select(static function => function.Key)];
        _clock = clock;
        _isToEnd = isToEnd;
        _memory = LuaMemory.Open(memoryLimit);
        _memory->Hook = LookHook;
        _thread = LuaApi.NewState(&LuaMemory.Allocate, _memory);
        _self = GCHandle.Alloc(this);
        *(nint*)((byte*)_thread - sizeof(nint)) = GCHandle.ToIntPtr(_self); // threads made later get a copy
        LuaApi.OpenLibraries(_thread);
        LoadPrelude(functions);
        BeginAnew();
    }

    private static nint LookHook => (nint)(delegate* unmanaged[Cdecl]<nint, nint, void>)&OnHook;

    /// <summary>The main thread's values.</summary>
    public LuaStack Stack => new(_thread);

    /// <summary>Bytes in use.</summary>
    public long UsedBytes => _memory->Used;

    /// <summary>Bytes taken from the system for small blocks, in use or not.</summary>
    public long ChunkBytes => _memory->Chunked;

    public long MemoryLimit
    {
        set => _memory->Limit = value;
    }

    /// <summary>Compiles; returns a number to run it by, or 0 with the error.</summary>
    public int Compile(Translation translated, bool isLibrary, out string error)
    {
        byte[] source = translated.Source;
        fixed (byte* at = source, name = isLibrary ? "@user_function"u8 : "@user_script"u8, mode = "t"u8)
        {
            int status = LuaApi.Load(_thread, at, (nuint)source.Length, name, mode);
            // as 5.1 says it
            error = status == LuaApi.Ok ? "" : TakeError().Replace("near <eof>", "near '<eof>'", StringComparison.Ordinal);
            if (status != LuaApi.Ok)
                return 0;
        }

        if (translated.Wrong.Length > 0)
        {
            error = (isLibrary ? "user_function" : "user_script") + translated.Wrong;
            Stack.Drop(1);
            return 0;
        }

        Stack.PushCopy(isLibrary ? LibraryAt : EnvironmentAt);
        _ = LuaApi.SetUpvalue(_thread, -2, 1);
        return LuaApi.Reference(_thread, LuaApi.RegistryIndex);
    }

    /// <summary>Takes the value on top; returns a number to push it by.</summary>
    public static int KeepTop(LuaStack stack) => LuaApi.Reference(stack.Thread, LuaApi.RegistryIndex);

    /// <summary>Pushes what is kept.</summary>
    public void PushKept(int number) => Stack.Item(LuaApi.RegistryIndex, number);

    public void Forget(int number) => LuaApi.Unreference(_thread, LuaApi.RegistryIndex, number);

    /// <summary>Takes the two tables on top as KEYS and ARGV.</summary>
    public void SetArguments()
    {
        LuaStack stack = Stack;
        stack.PushCopy(ArgsNameAt);
        stack.PushCopy(-2);
        stack.Set(GlobalsAt);
        stack.PushCopy(KeysNameAt);
        stack.PushCopy(-3);
        stack.Set(GlobalsAt);
        stack.Drop(2);
    }

    /// <summary>
    /// Calls the function below its <paramref name="arguments"/>; true with the result on top, or false with the error: a table with
    /// its text, source and line, or a plain string.
    /// </summary>
    public bool Call(int arguments)
    {
        _hookedUs = _clock.MonotonicUs;
        _memory->Current = _thread;
        _memory->Off--; // lua.L1
        int status = LuaApi.ProtectedCall(_thread, arguments, 1, HandlerAt, 0, 0);
        _memory->Off++;
        _failure?.Throw();
        return status == LuaApi.Ok;
    }

    /// <summary>Forgets all values but those that stay for good.</summary>
    public void Clear() => LuaApi.SetTop(_thread, Fixed);

    /// <summary>Makes the next script run as long as it is let.</summary>
    public void BeginAnew()
    {
        _failure = null;
        _isStopped = false;
        _memory->Hook = LookHook;
        _hookEvery = HookEvery;
        SetHook(_thread);
    }

    /// <summary>Something has told it to end.</summary>
    public bool IsStopped => _isStopped;

    /// <summary>From a function that may run for long, every now and then: true if it is to end, at once and without a result.</summary>
    public static bool Look(LuaStack stack) => Of(stack.Thread).LookNow();

    /// <summary>The thread goes on now: a new one, or one that was left.</summary>
    public static void Enter(nint thread)
    {
        LuaState state = Of(thread);
        state._memory->Current = thread;
        state.SetHook(thread);
    }

    /// <summary>True if the state can hold so many bytes more.</summary>
    public static bool HasRoom(LuaStack stack, long bytes)
    {
        LuaState state = Of(stack.Thread);
        LuaMemory* memory = state._memory;
        if (bytes <= memory->Limit - memory->Used)
            return true;
        state.CollectAll();
        return bytes <= memory->Limit - memory->Used;
    }

    /// <summary>True if the state holds more than it may: a function of ours that goes on taking should end.</summary>
    public static bool IsFull(LuaStack stack)
    {
        LuaMemory* memory = Of(stack.Thread)._memory;
        return memory->Used > memory->Limit;
    }

    /// <summary>Frees what no script can reach.</summary>
    public void CollectAll() => _ = LuaApi.Collect(_thread, LuaApi.CollectAll, 0, 0);

    /// <inheritdoc/>
    public void Dispose()
    {
        LuaApi.Close(_thread);
        LuaMemory.Close(_memory);
        _self.Free();
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int Invoke(nint thread)
    {
        LuaState state = Of(thread);
        LuaMemory* memory = state._memory;
        memory->Current = thread;
        memory->Off++; // lua.L1
        var stack = new LuaStack(thread);
        int results = state.Invoke(stack);
        if (memory->Used > memory->Limit && !HasRoom(stack, 0))
            results = Refuse(stack);
        if (state._isStopped)
            state.SetHook(thread); // lua.L7
        memory->Off--;
        return results;
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void OnHook(nint thread, nint activation)
    {
        LuaState state = Of(thread);
        state._memory->Current = thread;
        state.Hooked(thread);
    }

    private static LuaState Of(nint thread) => (LuaState)GCHandle.FromIntPtr(*(nint*)((byte*)thread - sizeof(nint))).Target!;

    private static int Refuse(LuaStack stack)
    {
        stack.SetCount(0);
        return stack.Fail("not enough memory"u8, isPlaced: false);
    }

    // How many steps may pass depends on how long the last ones took: one may cost nanoseconds or milliseconds.
    private void Hooked(nint thread)
    {
        long nowUs = _clock.MonotonicUs;
        long tookUs = nowUs - _hookedUs;
        _hookedUs = nowUs;
        _hookEvery = tookUs > LookUs ? Math.Max(HookOftenest, (int)(_hookEvery * LookUs / tookUs)) : Math.Min(_hookEvery * 4, HookEvery);
        if (nowUs >= _lookAtUs)
            LookNow();
        if (!_isStopped && LuaApi.GetHookCount(thread) == _hookEvery)
            return;
        // It walks every frame of the thread: of a deep recursion hundreds of thousands. So it is not done without need, and its time is not the steps'.
        SetHook(thread);
        _hookedUs = _clock.MonotonicUs;
    }

    private bool LookNow()
    {
        long nowUs = _clock.MonotonicUs;
        if (nowUs < _lookAtUs && !_isStopped)
            return false;
        _lookAtUs = nowUs + LookUs;
        if (!_isStopped && _isToEnd())
            Stop();
        return _isStopped;
    }

    // Every thread gets the hook that ends it before its next step.
    private void Stop()
    {
        _isStopped = true;
        _memory->Hook = LuaApi.Raise;
    }

    private void SetHook(nint thread) => LuaApi.SetHook(thread, _memory->Hook, LuaApi.CountMask, _isStopped ? 1 : _hookEvery);

    // lua.L6
    private int Invoke(LuaStack stack)
    {
        const int FirstUpvalue = LuaApi.RegistryIndex - 1;
        int function = (int)stack.Number(FirstUpvalue);
        try
        {
            return _functions[function](stack);
        }
        catch (Exception e) when (IsOfCommand(function))
        {
            _failure = ExceptionDispatchInfo.Capture(e);
            Stop();
        }
        catch (Exception e) when (!IsOfCommand(function))
        {
            stack.SetCount(0);
            return stack.Fail(Encoding.ASCII.GetBytes($"{_names[function]} failed: {e.GetType().Name}"));
        }

        return 0;
    }

    private bool IsOfCommand(int function) => _names[function] is "call" or "pcall";

    private string TakeError()
    {
        LuaStack stack = Stack;
        string text = stack.IsString(-1) ? Encoding.Latin1.GetString(stack.Bytes(-1)) : "execution failure";
        stack.Drop(1);
        return text;
    }

    private void LoadPrelude(IReadOnlyList<KeyValuePair<string, Func<LuaStack, int>>> functions)
    {
        byte[] source = Resource("prelude.lua");
        fixed (byte* at = source, name = "=lib"u8, mode = "t"u8)
            Check.That(LuaApi.Load(_thread, at, (nuint)source.Length, name, mode) == LuaApi.Ok, "lua.L3 the prelude compiles");
        LuaStack stack = Stack;
        LuaApi.PushPointer(_thread, LuaStack.FailureMark);
        stack.NewTable(0, functions.Count);
        for (int i = 0; i < functions.Count; i++)
        {
            stack.Push(functions[i].Key);
            stack.Push(i);
            LuaApi.PushFunction(_thread, (nint)(delegate* unmanaged[Cdecl]<nint, int>)&Invoke, 1);
            stack.Set(-3);
        }

        int status = LuaApi.ProtectedCall(_thread, 2, Fixed, 0, 0, 0);
        Check.That(status == LuaApi.Ok, status == LuaApi.Ok ? "" : "lua.L3 the prelude runs: " + TakeError());
    }

    private static byte[] Resource(string name)
    {
        using Stream stream = typeof(LuaState).Assembly.GetManifestResourceStream(name)!;
        byte[] bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }
}
