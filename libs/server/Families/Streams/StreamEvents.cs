using Garnet.Server.Clients;

namespace Garnet.Server.Families.Streams;

/// <summary>Events of streams that more than one command tells of.</summary>
internal static class StreamEvents
{
    internal static readonly KeyEvent Trimmed = new("xtrim", NotifyClasses.Stream);

    internal static readonly KeyEvent ConsumerMade = new("xgroup-createconsumer", NotifyClasses.Stream);
}
