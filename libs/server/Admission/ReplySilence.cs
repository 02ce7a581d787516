using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>
/// Around a command that is put to the rules: what it answers is kept from a client that has asked for that (CLIENT REPLY OFF, SKIP), be it a refusal. What subscribing and
/// unsubscribing push is no reply, as in Redis: the client hears what it will hear from.
/// </summary>
internal readonly unsafe struct ReplySilence
{
    private const CommandFlags Subscribes = CommandFlags.PubSub | CommandFlags.WhileSubscribed;

    private readonly long _before;
    private readonly bool _off;

    internal ReplySilence(ref Call call)
    {
        Connection client = call.Client;
        _before = call.Out.Mark;
        _off = (client.Modes & ClientModes.ReplyOff) != 0;
        if ((client.Modes & ClientModes.ReplySkip) != 0)
            client.Modes ^= ClientModes.ReplySkip | ClientModes.ReplySkipped; // the command may be the next SKIP
    }

    /// <summary>Behind the command.</summary>
    internal void End(ref Call call, CommandEntry* entry, Reply reply)
    {
        Connection client = call.Client;
        bool isSilent = (client.Modes & (_off ? ClientModes.ReplyOff | ClientModes.ReplySkipped : ClientModes.ReplySkipped)) != 0;
        client.EndSkipped(reply);
        if (isSilent && !((entry->Flags & Subscribes) == Subscribes && IsPush(ref call)))
            call.Out.TakeBackTo(_before);
    }

    // Neither an error nor what MULTI says.
    private bool IsPush(ref Call call) => call.Out.Since(_before) is [(byte)'*' or (byte)'>', ..];
}
