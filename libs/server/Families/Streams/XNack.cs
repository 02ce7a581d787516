using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Streams;

internal readonly struct XNack : ICommand
{
    private const int ModeAt = 3, CountAt = 5, IdsAt = 6;

    public static CommandSpec Spec => StreamCommands.Spec("XNACK", -7, CommandFlags.Write | CommandFlags.Fast, "RW UPDATE", "key group <SILENT | FAIL | FATAL> IDS numids id [id ...] [RETRYCOUNT count] [FORCE]", "Takes pending entries from their consumers, so that others may claim them at once.") with { Since = "8.8.0" };

    public static unsafe Reply Run(ref Call call)
    {
        var release = new GroupRelease { Deliveries = -1 };
        if (GroupCommands.Look(ref call, 2) != Reply.Sent)
            return Reply.Failed;
        if (!TryMode(ref call, out release.Mode))
            return call.FailBytes("ERR mode must be SILENT, FAIL, or FATAL"u8);
        if (!call.Is(ModeAt + 1, "IDS"u8))
            return call.Fail(Fault.Syntax);
        if (!call.TryInt64(CountAt, out long count) || count < 1)
            return call.FailBytes("ERR numids must be a positive integer"u8);
        if (count > call.Count - IdsAt)
            return call.FailBytes("ERR number of IDs doesn't match numids"u8);
        if (!StreamCommands.AreIds(ref call, IdsAt, (int)count) || !TryOptions(ref call, IdsAt + (int)count, ref release))
            return Reply.Failed;
        release.Entries = new GroupIds { Name = new Operands(call.Args + 2, 1), Ids = new StreamIds(call.Args + IdsAt, (int)count) };
        Outcome outcome = CollectionCalls.Edit(ref call, ref release);
        if (!release.Found)
            return GroupCommands.NoGroup(ref call, 1, 2);
        return (outcome is Outcome.OutOfMemory or Outcome.TooLarge) && release.Released == 0
            ? call.From(outcome)
            : call.Int(release.Released);
    }

    private static bool TryMode(ref Call call, out ReleaseMode mode)
    {
        mode = call.Is(ModeAt, "SILENT"u8) ? ReleaseMode.Silent : call.Is(ModeAt, "FATAL"u8) ? ReleaseMode.Fatal : ReleaseMode.Fail;
        return mode != ReleaseMode.Fail || call.Is(ModeAt, "FAIL"u8);
    }

    private static bool TryOptions(ref Call call, int first, ref GroupRelease release)
    {
        for (int i = first; i < call.Count; i++)
        {
            if (call.Is(i, "FORCE"u8))
            {
                release.Forces = true;
            }
            else if (call.Is(i, "RETRYCOUNT"u8) && i + 1 < call.Count)
            {
                if (!call.TryInt64(++i, out release.Deliveries))
                    return StreamCommands.Fail(ref call, FaultText.Of(Fault.NotAnInteger));
                if (release.Deliveries < 0)
                    return StreamCommands.Fail(ref call, "ERR Invalid RETRYCOUNT value, must be >= 0"u8);
            }
            else
            {
                return StreamCommands.Fail(ref call, (byte[])[.. "ERR Unrecognized XNACK option '"u8, .. call.Shown(i), .. "'"u8]);
            }
        }

        return true;
    }
}
