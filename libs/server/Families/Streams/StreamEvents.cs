using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Streams;

/// <summary>Events of streams that more than one command tells of.</summary>
internal static class StreamEvents
{
    internal static readonly KeyEvent Trimmed = new("xtrim", NotifyClasses.Stream);

    internal static readonly KeyEvent ConsumerMade = new("xgroup-createconsumer", NotifyClasses.Stream);

    /// <summary>Says what the call's changes are told as, one by one.</summary>
    internal static void Tell(ref Call call, params ReadOnlySpan<KeyEvent?> told)
    {
        if (call.Server.Observers.Changes.PerCommand)
            call.Worker.Told.AddRange(told);
    }
}
