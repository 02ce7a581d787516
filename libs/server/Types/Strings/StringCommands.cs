using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Types.Strings;

/// <summary>Strings as whole values: GET, SET and their relatives.</summary>
internal static class StringCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Get>();
        table.Add<Set>();
    }

    /// <summary>Replies the string under the key, nil if there is none.</summary>
    internal static unsafe Reply ReplyValue(ref Call call, in KeyRef key)
    {
        while (true)
        {
            var copy = new ValueCopy(call.Out);
            if (call.Store.Read(in key, ref copy) != Outcome.Done)
                return call.Null();
            if (copy.WrongKind)
                return call.Fail(Fault.WrongType);
            if (!copy.TooSmall)
            {
                call.Out.Position = copy.End;
                return Reply.Sent;
            }

            call.Out.Room(copy.Length + 64);
        }
    }
}

internal readonly struct Get : ICommand
{
    public static CommandSpec Spec => new("GET", 2, CommandFlags.ReadOnly | CommandFlags.Fast, KeySpec.One with { Usage = "RO ACCESS" })
    {
        Group = "string", Syntax = "key", Summary = "Returns the string value of a key.",
    };

    public static Reply Run(ref Call call)
    {
        KeyRef key = call.Key;
        return StringCommands.ReplyValue(ref call, in key);
    }
}
