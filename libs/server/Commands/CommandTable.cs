using System.Runtime.CompilerServices;
using Garnet.Common;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>
/// From a command's name to its handler: an open-addressing table of packed names, then one indirect call. GET and SET are
/// compared first (measured); everything else costs one probe.
///
/// commands.C1  Filled before the first connection, never changed after: readers need no fence.
/// commands.C2  Entry 0 is "unknown command"; a name that is not found leads there.
/// </summary>
internal sealed unsafe class CommandTable : IDisposable
{
    private const int Slots = 1024;
    private const int EntriesMax = 512;
    private const uint NameGet = 0x00544547, NameSet = 0x00544553, FoldThree = 0x00DFDFDF;

    private readonly CommandName[] _names = new CommandName[Slots];
    private readonly ushort[] _ids = new ushort[Slots];
    private readonly Dictionary<string, List<int>> _children = new(StringComparer.Ordinal);
    private readonly CommandName[] _shortNames = new CommandName[EntriesMax];
    private readonly List<CommandSpec> _specs = [];
    private readonly NativeArray<CommandEntry> _entries = new(EntriesMax);
    private int _get;
    private int _set;

    /// <summary>The number of SHUTDOWN.</summary>
    internal int Shutdown { get; }

    /// <param name="register">Adds the commands, family by family.</param>
    internal CommandTable(Action<CommandTable> register)
    {
        Add<UnknownCommand>();
        register(this);
        _get = FindTop("GET"u8);
        _set = FindTop("SET"u8);
        Shutdown = FindTop("SHUTDOWN"u8);
    }

    /// <summary>All specs, by command number; number 0 is no command.</summary>
    internal IReadOnlyList<CommandSpec> Specs => _specs;

    /// <summary>Commands that are not another's subcommand.</summary>
    internal int TopLevelCount { get; private set; }

    /// <summary>The dispatch entries, by command number.</summary>
    internal CommandEntry* Entries => _entries.Items;

    /// <summary>Registers a command.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // a start of the server makes no method of its own for each command so
    internal void Add<T>() where T : struct, ICommand => Add(T.Spec, &Invoke<T>);

    /// <summary>Registers a command that only groups subcommands, and its HELP. Its subcommands follow.</summary>
    internal void AddContainer(CommandSpec spec) => AddContainer(spec with { Arity = -2 }, &Containers.RefuseUnknown);

    /// <summary>Registers a command that groups subcommands and also has a meaning without one of them.</summary>
    internal void AddContainer(CommandSpec spec, delegate*<ref Call, Reply> run)
    {
        Add(spec with { Flags = spec.Flags | CommandFlags.Container | CommandFlags.Quick }, run);
        Add(
            new CommandSpec(spec.Name + "|HELP", 2, CommandFlags.Loading | CommandFlags.Stale | CommandFlags.Quick)
            {
                Group = spec.Group, Categories = spec.Categories, Summary = "Lists the subcommands.", Since = "5.0.0",
            },
            &Containers.Help);
    }

    private void Add(CommandSpec spec, delegate*<ref Call, Reply> run)
    {
        int id = _specs.Count;
        _specs.Add(spec);
        _entries.Items[id] = new CommandEntry
        {
            Run = run,
            ArgsMin = Math.Abs(spec.Arity),
            ArgsSpan = spec.Arity > 0 ? 0 : uint.MaxValue >> 1,
            Flags = spec.Flags | (IsTimed(spec.Flags) ? CommandFlags.Timed : 0),
            FirstKey = spec.Keys.CountArg == 0 ? spec.Keys.First : 0,
            Member = spec.Member,
            Id = id,
        };
        if (id > 0)
            Name(spec, (ushort)id);
    }

    // What only administrators use is looked at one by one whatever it costs (the audit trail).
    private static bool IsTimed(CommandFlags flags) =>
        (flags & (CommandFlags.Fast | CommandFlags.Quick)) == 0
            || (flags & (CommandFlags.Admin | CommandFlags.Container)) == CommandFlags.Admin;

    /// <summary>The number of the command named by the arguments; 0 if there is none such.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // DispatchBenchmark: on the path of every command
    internal int Find(Arg* args, int count)
    {
        if (args->Length == 3)
        {
            uint name = *(uint*)args->Bytes & FoldThree;
            if (name == NameGet)
                return _get;
            if (name == NameSet)
                return _set;
        }

        return FindAny(args, count);
    }

    /// <summary>The number of the command with the full name (<c>CLIENT|KILL</c>), 0 if there is none.</summary>
    internal int FindByFullName(ReadOnlySpan<byte> name)
    {
        int bar = name.IndexOf((byte)'|');
        if (bar < 0)
            return FindTop(name);
        int parent = FindTop(name[..bar]);
        return parent > 0 && CommandName.TryPack(name[(bar + 1)..], out CommandName child) ? FindChild(parent, child) : 0;
    }

    /// <summary>Numbers of a container's subcommands, in order of registration.</summary>
    internal IEnumerable<int> Children(int parent) => _children.GetValueOrDefault(_specs[parent].Name, []);

    /// <inheritdoc/>
    public void Dispose() => _entries.Dispose();

    private static Reply Invoke<T>(ref Call call) where T : struct, ICommand => T.Run(ref call);

    private int FindAny(Arg* args, int count)
    {
        CommandName name;
        int length = args->Length;
        if (length is > 0 and <= 8)
            name = CommandName.FromWord(*(ulong*)args->Bytes & (ulong.MaxValue >> (64 - (length * 8))));
        else if (!CommandName.TryPack(args->Span, out name))
            return 0;
        int id = FindTop(name);
        if (count > 1 && (_entries.Items[id].Flags & CommandFlags.Container) != 0
            && CommandName.TryPack(args[1].Span, out CommandName child))
        {
            int found = FindChild(id, child);
            return found == 0 ? id : found;
        }

        return id;
    }

    private int FindTop(ReadOnlySpan<byte> name) => CommandName.TryPack(name, out CommandName packed) ? FindTop(packed) : 0;

    private int FindTop(CommandName name)
    {
        uint slot = name.Hash & (Slots - 1);
        while (_ids[slot] != 0)
        {
            if (_names[slot].Equals(name))
                return _ids[slot];
            slot = (slot + 1) & (Slots - 1);
        }

        return 0;
    }

    private int FindChild(int parent, CommandName child)
    {
        foreach (int id in _children.GetValueOrDefault(_specs[parent].Name, []))
        {
            if (_shortNames[id].Equals(child))
                return id;
        }

        return 0;
    }

    private void Name(CommandSpec spec, ushort id)
    {
        byte[] name = System.Text.Encoding.ASCII.GetBytes(spec.ShortName);
        CommandName.TryPack(name, out CommandName packed);
        _shortNames[id] = packed;
        if (spec.IsSubcommand)
        {
            string parent = spec.Name[..spec.Name.IndexOf('|')];
            if (!_children.TryGetValue(parent, out List<int>? children))
                _children[parent] = children = [];
            children.Add(id);
            return;
        }

        TopLevelCount++;
        uint slot = packed.Hash & (Slots - 1);
        while (_ids[slot] != 0)
            slot = (slot + 1) & (Slots - 1);
        _names[slot] = packed;
        _ids[slot] = id;
    }
}
