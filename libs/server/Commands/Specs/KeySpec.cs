namespace Garnet.Server.Commands;

/// <summary>Where a command's keys stand among its arguments (0 = the name), in Redis's terms.</summary>
internal readonly record struct KeySpec(int First, int Last, int Step)
{
    /// <summary>No keys.</summary>
    public static readonly KeySpec None = default;
    /// <summary>One key, right behind the name.</summary>
    public static readonly KeySpec One = new(1, 1, 1);
    /// <summary>Two keys.</summary>
    public static readonly KeySpec Two = new(1, 2, 1);
    /// <summary>All arguments are keys.</summary>
    public static readonly KeySpec All = new(1, -1, 1);
    /// <summary>Key, value, key, value …</summary>
    public static readonly KeySpec Pairs = new(1, -1, 2);

    /// <summary>How the key's value is used, for COMMAND INFO: flags as Redis spells them, e.g. <c>RW ACCESS UPDATE</c>.</summary>
    public string Usage { get; init; } = "";

    /// <summary>For keys counted by an argument: its index; 0 = keys stand at fixed places.</summary>
    public int CountArg { get; init; }

    /// <summary>The first argument that may be the word STREAMS: keys are the first half of what is behind it; 0 = keys stand elsewhere.</summary>
    public int StreamsFrom { get; init; }

    /// <summary>The argument from which on KEYS may be followed by keys up to the end, if the first key is empty; 0 = it may not.</summary>
    public int KeysFrom { get; init; }

    /// <summary>So many of those the command takes at once, and goes on with the others from <c>Parking.NextKey</c> on; 0: it takes all.</summary>
    public int AtOnceMax { get; init; }

    /// <summary>
    /// A call of so many arguments at most asks no more of what its keys hold than whether they are there, and of what kind: of what lies on a tier only that is fetched. 0: none does.
    /// </summary>
    public int HeadsUpTo { get; init; }

    /// <summary>True if the command has keys at all.</summary>
    public bool Any => First > 0 || StreamsFrom > 0;

    /// <summary>Keys that stand behind the word STREAMS, an id for each behind them.</summary>
    public static KeySpec BehindStreams(int from) => new(0, 0, 0) { StreamsFrom = from };

    /// <summary>How the keys behind the first one are used, if not as that one.</summary>
    public string RestUsage { get; init; } = "";

    /// <summary>The argument that names the key to store in, where the keys are counted; 0 = none.</summary>
    public int Target { get; init; }

    /// <summary>The argument from which on STORE may name a key to store in; 0 = none does.</summary>
    public int StoreFrom { get; init; }

    /// <summary>True if STOREDIST names such a key as well.</summary>
    public bool StoresDistances { get; init; }

    /// <summary>How the keys are used by a call with these arguments, where that is not always as <see cref="Usage"/> says.</summary>
    public UsageByArguments? UsageOf { get; init; }

    /// <summary>Finds the key in another database than the connection's, where a call may have one; the first key is in the connection's.</summary>
    public KeyElsewhere? Elsewhere { get; init; }

    /// <summary>How a key is used that is stored in.</summary>
    public const string TargetUsage = "OW UPDATE";
}

/// <summary>How a command whose name is the argument <paramref name="name"/> uses its key, in Redis's words.</summary>
internal delegate string UsageByArguments(ref Call call, int name);

/// <summary>Which argument is a key in the database that the call names; false if it names none, or none that there is.</summary>
internal delegate bool KeyElsewhere(ref Call call, out int key, out int database);
