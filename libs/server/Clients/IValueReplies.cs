using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>Replies that are a long value, sent from where it lies in the store.</summary>
internal interface IValueReplies
{
    /// <summary>
    /// Begins the reply to the running command, which says no more, if the value of the key is long and may leave as soon as the command is over; false: it is to
    /// be copied.
    /// </summary>
    bool TryReply(Connection client, in KeyRef key);
}
