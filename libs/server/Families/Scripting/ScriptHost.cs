using System.Text;
using Garnet.Common.Resp;
using Garnet.Lua;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting.Functions;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Scripting;

/// <summary>
/// Scripts and functions on one reactor: its Lua state, opened with the first script, and what is compiled in it. A script runs on the
/// reactor's thread with all locks held, each from when it is needed, as one step that nobody sees a part of, and what it wrote is one batch of the log, whether it
/// ends well or not: nothing is taken back.
///
/// scripting.S1  A script runs for a client but is not it: what it selects or sets for itself is gone when it ends.
/// scripting.S2  Between scripts the state is as it was: no global is left, what a script held is garbage.
/// scripting.S3  Effects are one batch: a script whose text or arguments speak of whole databases begins at a boundary of batches, since a change
///     of those is an operation between batches; for any other such a change must be its first.
/// scripting.S4  A script runs until its reply is written: who may stop it may stop that.
/// </summary>
internal sealed unsafe class ScriptHost : IScripts
{
    private const long TidyBytes = 16 << 20; // a state that holds more after a script, or a quarter of what it may, is collected
    private const long LoadUsMax = 500_000, LookEveryUs = 5_000;
    private const int CompiledMax = 2 * ScriptCache.PassingMax;
    private const long ReplyBytesMax = 1 << 30; // the memory of replies ends at 2 GiB

    private readonly Executor _worker;
    private readonly ServerContext _server;
    private readonly CommandRun _commands;
    private readonly Dictionary<Script, int> _compiled = [];
    private readonly LuaLibraries _libraries;
    private LuaState? _lua;
    private long _heldBytes; // by it, when it was last used here: other threads must not look at a state, which may be given up at any time
    private long _loadUntilUs = long.MaxValue;
    private bool _isLate;
    private long _lookAtUs;
    private Garnet.Common.Resp.Arg* _args; // of the command that runs it
    private int _count;

    internal ScriptHost(Executor worker)
    {
        _worker = worker;
        _server = worker.Server;
        _commands = new CommandRun(worker);
        Functions = new FunctionHost(worker, () => State);
        // whatever the limit: nothing takes a longer text
        _libraries = new LuaLibraries(Math.Min(_server.Settings.Scripts.MemoryBytesMax, Tsavorite.Store.ValueBytesMax));
    }

    /// <summary>What runs now; null if nothing does.</summary>
    internal Running? Running => _worker.Script;

    /// <summary>That of the worker.</summary>
    internal static ScriptHost Of(Worker worker) => (ScriptHost)((Executor)worker).Scripts;

    /// <summary>Bytes that scripts hold in the states of all reactors. From any thread.</summary>
    internal static long MemoryBytesOf(ServerContext server) =>
        server.Workers.All.Where(static worker => ((Executor)worker).HasScripts).Sum(static worker => Of(worker).MemoryBytes);

    /// <summary>Names of texts.</summary>
    internal ScriptNames Names { get; } = new();

    /// <summary>Functions on this reactor.</summary>
    internal FunctionHost Functions { get; }

    /// <summary>Bytes that scripts held in the state when the last one ended. From any thread.</summary>
    internal long MemoryBytes => Volatile.Read(ref _heldBytes);

    /// <summary>Compiles a script, once per state; 0 with the error.</summary>
    internal int Compile(Script script, out string error)
    {
        error = "";
        if (_compiled.TryGetValue(script, out int number))
            return number;
        if (_compiled.Count >= CompiledMax)
            ForgetDropped();
        number = State.Compile(script.Compilable(), isLibrary: false, out error);
        if (number != 0)
            _compiled[script] = number;
        NoteMemory();
        return number;
    }

    /// <summary>Runs a compiled script with the keys and arguments that follow <paramref name="first"/>, as one step.</summary>
    internal Reply Run(ref Call call, int number, Running running, int first, int keys)
    {
        LuaState lua = State;
        lua.PushKept(number);
        PushArguments(ref call, first, keys);
        lua.SetArguments();
        return RunPushed(ref call, running, 0);
    }

    /// <summary>Calls a function with the keys and arguments of the command, as one step.</summary>
    internal Reply RunFunction(ref Call call, int reference, Running running, int keys)
    {
        State.PushKept(reference);
        PushArguments(ref call, 3, keys);
        return RunPushed(ref call, running, 2);
    }

    /// <summary>A library is loaded: it must be quick.</summary>
    internal void BeginLoad()
    {
        _loadUntilUs = _server.Clock.MonotonicUs + LoadUsMax;
        _isLate = false;
    }

    /// <summary>It has been; true if it was stopped because it took too long.</summary>
    internal bool EndLoad()
    {
        _loadUntilUs = long.MaxValue;
        State.BeginAnew();
        NoteMemory();
        return _isLate;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Functions.Dispose();
        _lua?.Dispose();
        _commands.Dispose();
    }

    private LuaState State => _lua ??= Open();

    /// <summary>Bytes that scripts of the reactor may hold.</summary>
    public long MemoryBytesMax => _server.Settings.Scripts.MemoryBytesMax;

    /// <summary>True if the script that runs can hold so many bytes more.</summary>
    public bool HasRoom(long bytes) => LuaState.HasRoom(State.Stack, bytes);

    private LuaState Open() =>
        new(MemoryBytesMax, [.. RedisFunctions.For(this, _server, _commands), .. _libraries.All()], _server.Clock, IsToEnd);

    private void ForgetDropped()
    {
        foreach ((Script script, int number) in _compiled.Where(static pair => pair.Key.IsDropped).ToList())
        {
            State.Forget(number);
            _compiled.Remove(script);
        }
    }

    private void PushArguments(ref Call call, int first, int keys)
    {
        LuaStack stack = State.Stack;
        stack.NewTable(keys, 0);
        for (int i = 0; i < keys; i++)
        {
            stack.Push(call[first + i]);
            stack.SetItem(-2, i + 1);
        }

        int from = first + keys;
        stack.NewTable(call.Count - from, 0);
        for (int i = from; i < call.Count; i++)
        {
            stack.Push(call[i]);
            stack.SetItem(-2, i - from + 1);
        }
    }

    // The function to call lies on the stack, below its arguments.
    private Reply RunPushed(ref Call call, Running running, int arguments)
    {
        bool isInStep = (call.Client.Modes & ClientModes.Transaction) != 0; // of an EXEC, which holds all locks
        LuaState lua = State;
        ScriptTurns.AloneTurn turn = default;
        if (!isInStep && !_server.ScriptTurns.TryTake(_worker, out turn))
        {
            lua.Clear();
            return Busy(ref call);
        }

        using (turn)
            return RunInTurn(ref call, running, arguments, isInStep);
    }

    private Reply RunInTurn(ref Call call, Running running, int arguments, bool isInStep)
    {
        Connection client = call.Client;
        (int database, int command) = (client.Database, client.LastCommand); // scripting.S1
        LuaState lua = State;
        lua.MemoryLimit = MemoryBytesMax;
        running.IsOrdered |= isInStep || NamesDatabases(ref call);
        Reply reply;
        try
        {
            if (!isInStep)
                TakeLocks(ref call, running);
            client.Modes |= ClientModes.Script;
            _args = call.Args;
            _count = call.Count;
            _worker.Script = running;
            bool ended = lua.Call(arguments);
            (client.Database, client.LastCommand) = (database, command);
            call.Out.Resp3 = client.Resp3;
            reply = ended
                ? ScriptEnd.Answer(ref call, lua.Stack, running, Math.Min(MemoryBytesMax, ReplyBytesMax))
                : ScriptEnd.Failure(ref call, lua.Stack, running);
        }
        finally
        {
            _worker.Script = null;
            client.Modes &= ~ClientModes.Script;
            if (!isInStep)
                call.Session.Unlock();
            CleanUp(lua);
        }

        return reply;
    }

    private void TakeLocks(ref Call call, Running running)
    {
        if (running.IsOrdered)
            call.Session.LockAll();
        else
            call.Session.LockOpen(); // scripting.G3
        if (_server.Replication.ReadsOneState)
            call.Session.LockRest();
        running.AssureRoom(call.Session);
    }

    // scripting.S2
    private void CleanUp(LuaState lua)
    {
        lua.Clear();
        _libraries.Reset();
        if (lua.IsStopped)
            lua.BeginAnew();
        if (lua.UsedBytes > Math.Min(TidyBytes, MemoryBytesMax / 4))
            Tidy(lua);
        NoteMemory();
    }

    private void NoteMemory() => Volatile.Write(ref _heldBytes, _lua?.UsedBytes ?? 0);

    // A script may take the name of a command from its arguments.
    private static bool NamesDatabases(ref Call call)
    {
        for (int i = 3; i < call.Count; i++)
        {
            bool names = call[i].Length switch
            {
                6 => Ascii.EqualsIgnoreCase(call[i], "swapdb"u8),
                7 => Ascii.EqualsIgnoreCase(call[i], "flushdb"u8),
                8 => Ascii.EqualsIgnoreCase(call[i], "flushall"u8),
                _ => false,
            };
            if (names)
                return true;
        }

        return false;
    }

    // What is still held then are compiled scripts and what libraries remember: with too much of it the state begins anew.
    private void Tidy(LuaState lua)
    {
        lua.CollectAll();
        if (lua.UsedBytes <= MemoryBytesMax / 2)
            return;
        lua.Dispose();
        _lua = null;
        _compiled.Clear();
        Functions.ForgetState();
    }

    /// <summary>Another script has run for too long.</summary>
    internal Reply Busy(ref Call call)
    {
        _worker.GiveUpBatch();
        return call.FailBytes(FaultText.Busy(_server.Workers.RunningScript() is { IsFunction: true }));
    }

    // Every now and then while a script runs, or a library is loaded.
    private bool IsToEnd()
    {
        _isLate |= _server.Clock.MonotonicUs > _loadUntilUs;
        if (_worker.Script is { } running)
            Look(running);
        return _isLate || _worker.IsStopping || _worker.Script is { IsKilled: true };
    }

    private void Look(Running running)
    {
        if (_worker.IsStopping)
            running.IsKilled = true;
        long nowUs = _server.Clock.MonotonicUs;
        if (nowUs < _lookAtUs || !running.IsBusy(_server.Settings.Scripts, _server.Clock))
            return;
        _lookAtUs = nowUs + LookEveryUs;
        if (running.Command.Length == 0)
        {
            var call = new Call(_worker, running.Client, _args, _count, 0);
            running.KeepCommand(Copy(ref call));
        }

        _worker.ServeBusy();
    }

    private static byte[][] Copy(ref Call call)
    {
        byte[][] command = new byte[call.Count][];
        for (int i = 0; i < command.Length; i++)
            command[i] = call[i].ToArray();
        return command;
    }
}
