using System.Text;
using Garnet.Lua;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Scripting;

/// <summary>What a script's client is answered: what it has returned, or why it failed, either on top of the stack.</summary>
internal static class ScriptEnd
{
    /// <summary>What is said of something thrown that says nothing.</summary>
    internal const string Unknown = "ERR unknown error";

    /// <summary>Writes what it has returned. Still a part of the run: a reply may be long, and a table in it many times.</summary>
    internal static Reply Answer(ref Call call, LuaStack stack, Running running, long bytesMax)
    {
        bool isCounted = CommandRun.IsCounted(stack);
        long before = call.Out.Mark;
        var writer = new LuaToReply(stack, call.Out, running.WantsResp3, bytesMax);
        if (!writer.TryWrite())
        {
            call.Out.TakeBackTo(before);
            return call.FailText(KillText(running) ?? "ERR the reply of the script is larger than script-memory-limit");
        }

        ReadOnlySpan<byte> reply = call.Out.Since(before);
        if (call.Out.IsGivenUp || reply is not [(byte)'-', ..])
            return Reply.Sent;
        if (!isCounted)
            call.Worker.Figures.CountError(reply[1..^2]);
        return Reply.Failed;
    }

    /// <summary>Writes what it has thrown.</summary>
    internal static Reply Failure(ref Call call, LuaStack stack, Running running)
    {
        if (!stack.IsTable(-1))
        {
            string cause = stack.IsString(-1) ? Encoding.Latin1.GetString(stack.Bytes(-1)) : "execution failure";
            return call.FailText(KillText(running) ?? $"ERR Error running script {running.Name}, {cause}");
        }

        string text = KillText(running) ?? Text(stack, "err"u8) ?? Unknown;
        string? source = Text(stack, "source"u8);
        bool isCounted = CommandRun.IsCounted(stack);
        if (source is not null && stack.Field(-1, "line"u8) == LuaType.Number)
            text += $" script: {running.Name}, on {source}:{(long)stack.Number(-1)}.";
        if (!isCounted)
            return call.FailText(text);
        call.Out.Error(text);
        return Reply.Failed;
    }

    private static string? KillText(Running running) => !running.IsKilled ? null
        : running.IsFunction ? "ERR Script killed by user with FUNCTION KILL." : "ERR Script killed by user with SCRIPT KILL...";

    private static string? Text(LuaStack stack, ReadOnlySpan<byte> field)
    {
        string? text = stack.Field(-1, field) == LuaType.String ? Encoding.Latin1.GetString(stack.Bytes(-1)) : null;
        stack.Drop(1);
        return text;
    }
}
