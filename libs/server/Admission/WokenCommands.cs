using Garnet.Common.Resp;
using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>Asks the rules about a command that has waited for a key, before it is served (blocking.B5).</summary>
internal sealed unsafe class WokenCommands : IServeRule
{
    private const int ArgsOnStack = 32;

    internal static readonly WokenCommands Instance = new();

    public bool MayLook(Worker worker) => ((Executor)worker) is { Script: null, Server.Replication.IsLoading: false };

    public bool Asks(Worker worker, Connection client) =>
        ((Executor)worker).Server.Hooks.Any || client.User is { Rights.AllowsEverything: false };

    public bool MayServe(Worker worker, KeyWait wait, out byte[] refusal, out Parking? other)
    {
        var executor = (Executor)worker;
        KeptCommand command = wait.Command!;
        CommandEntry* entry = executor.Server.Commands.Entries + command.Command;
        Span<Arg> room = command.Count <= ArgsOnStack ? stackalloc Arg[ArgsOnStack] : new Arg[command.Count];
        fixed (byte* bytes = &command.Bytes)
        fixed (Arg* args = room)
        {
            command.Unpack(bytes, room);
            ulong hash = entry->FirstKey > 0 ? worker.Store.HashBytes(args[entry->FirstKey].Bytes, args[entry->FirstKey].Length) : 0;
            var call = new Call(executor, wait.Client, args, command.Count, hash);
            AdmissionResult result = AdmissionRules.Ask(ref call, new Question(Asker.Woken, entry, entry->Flags));
            (refusal, other) = (result.Error.ToArray(), result.Wait);
        }

        if (refusal.Length > 0)
        {
            Execution.CountRefusal(executor, command.Command);
            worker.Figures.CountError(refusal);
        }

        return refusal.Length == 0 && other is null;
    }
}
