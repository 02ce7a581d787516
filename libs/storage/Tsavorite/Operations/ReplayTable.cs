namespace Tsavorite;

/// <summary>
/// Operations by their persisted number, for whoever reads a log: decodes the arguments and runs the same code that
/// ran on the primary. <see cref="DeleteKey"/> is always in it.
/// </summary>
public sealed unsafe class ReplayTable
{
    private readonly delegate*<StoreSession, in KeyRef, ReadOnlySpan<byte>, bool>[] _steps =
        new delegate*<StoreSession, in KeyRef, ReadOnlySpan<byte>, bool>[256];

    private readonly delegate*<ReadOnlySpan<byte>, bool>[] _replaces = new delegate*<ReadOnlySpan<byte>, bool>[256];

    private readonly bool[] _areParts = new bool[256];

    /// <summary>A table that knows the store's own operations.</summary>
    public ReplayTable() => Add<DeleteKey>();

    /// <summary>Adds an operation under its number; a number can be given once.</summary>
    public void Add<T>() where T : struct, IModify
    {
        if (_steps[T.OpId] != null)
            throw new ArgumentException($"Operation number {T.OpId} is taken.");
        _steps[T.OpId] = &Run<T>;
        _replaces[T.OpId] = &Replaces<T>;
    }

    /// <summary>Adds an edit under its number.</summary>
    public void AddEdit<T>() where T : struct, IEdit
    {
        if (_steps[T.OpId] != null)
            throw new ArgumentException($"Operation number {T.OpId} is taken.");
        _steps[T.OpId] = &RunEdit<T>;
        _replaces[T.OpId] = &Replaces<T>;
    }

    /// <summary>
    /// Adds an edit that puts one part of a value as it is, under its number: entries of that kind for one key follow each other, and what
    /// they came to is judged after the last (<see cref="StoreSession.IsSound"/>).
    /// </summary>
    public void AddParts<T>() where T : struct, IEdit
    {
        AddEdit<T>();
        _areParts[T.OpId] = true;
    }

    /// <summary>True if the number is that of a part.</summary>
    public bool IsPart(byte opId) => _areParts[opId];

    /// <summary>True if what the entry leaves does not depend on what was there.</summary>
    public bool Replaces(byte opId, ReadOnlySpan<byte> arguments) => _replaces[opId] != null && _replaces[opId](arguments);

    /// <summary>True if the number is known.</summary>
    public bool Knows(byte opId) => _steps[opId] != null;

    /// <summary>
    /// Decodes and runs one entry. The session's clock decides expiry: a replayer that must not expire on its own
    /// sets it to 0. False if the number is unknown, the arguments are not valid, or memory is out.
    /// </summary>
    public bool Apply(StoreSession session, byte opId, in KeyRef key, ReadOnlySpan<byte> arguments) =>
        _steps[opId] != null && _steps[opId](session, key, arguments);

    /// <summary>True if the number is that of an operation on the whole store.</summary>
    public static bool IsControl(byte opId) => ControlOperation.Is(opId);

    /// <summary>
    /// Runs one entry on the whole store (a batch of its own in the log) again; nothing else may use the store
    /// meanwhile. False if the number or the arguments are not known.
    /// </summary>
    public static bool ApplyControl(Store store, byte opId, ReadOnlySpan<byte> arguments) => ControlOperation.Apply(store, opId, arguments);

    private static bool Replaces<T>(ReadOnlySpan<byte> arguments) where T : struct, ILogged => T.Replaces(arguments);

    private static bool Run<T>(StoreSession session, in KeyRef key, ReadOnlySpan<byte> arguments) where T : struct, IModify
    {
        T operation = default;
        return operation.TryDecode(arguments) && session.Modify(key, ref operation) is not (Outcome.OutOfMemory or Outcome.TooLarge);
    }

    private static bool RunEdit<T>(StoreSession session, in KeyRef key, ReadOnlySpan<byte> arguments) where T : struct, IEdit
    {
        T operation = default;
        return operation.TryDecode(arguments) && session.Edit(key, ref operation) is not (Outcome.OutOfMemory or Outcome.TooLarge);
    }
}
