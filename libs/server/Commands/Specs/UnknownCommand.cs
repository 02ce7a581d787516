using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>What a name leads to that is no command (rule commands.C2).</summary>
internal readonly struct UnknownCommand : ICommand
{
    private const int EchoedBytesMax = 128;

    public static CommandSpec Spec => new("", -1, CommandFlags.NoAuth | CommandFlags.Loading | CommandFlags.Stale);

    public static Reply Run(ref Call call) => call.FailText(TextOf(ref call));

    /// <summary>Redis's sentence about it.</summary>
    internal static unsafe string TextOf(ref Call call)
    {
        var text = new StringBuilder("ERR unknown command '");
        text.Append(Shown(call.Args[0], EchoedBytesMax)).Append("', with args beginning with: ");
        int room = EchoedBytesMax;
        for (int i = 1; i < call.Count && room > 0; i++)
        {
            string shown = Shown(call.Args[i], room);
            text.Append('\'').Append(shown).Append("' ");
            room -= shown.Length + 3;
        }

        return text.ToString();
    }

    private static string Shown(Arg arg, int bytesMax)
    {
        ReadOnlySpan<byte> bytes = arg.Span;
        int zero = bytes.IndexOf((byte)0);
        if (zero >= 0)
            bytes = bytes[..zero];
        return Encoding.Latin1.GetString(bytes[..Math.Min(bytes.Length, bytesMax)]);
    }
}
