using Garnet.Server.Base;
using Garnet.Server.Commands;

namespace Garnet.Server;

/// <summary>
/// The table of commands, made on a thread of its own while the settings of its server are read: a tenth of what a start takes, where there is a core
/// for it. It needs none of them.
/// </summary>
public sealed class CommandsAhead : IDisposable
{
    private readonly Thread _thread;
    private CommandTable? _table;

    /// <summary>Begins to make it.</summary>
    public CommandsAhead() => _thread = BackgroundThread.Begin(
        "commands", () => _table = new CommandTable(CommandFamilies.Register), static _ => { }); // whoever takes it makes it then

    /// <inheritdoc/>
    public void Dispose()
    {
        _thread.Join();
        _table?.Dispose();
    }

    /// <summary>The table, which is the caller's from now on.</summary>
    internal CommandTable Take()
    {
        _thread.Join();
        return Interlocked.Exchange(ref _table, null) ?? new CommandTable(CommandFamilies.Register);
    }
}
