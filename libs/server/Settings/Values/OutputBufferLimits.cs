using Garnet.Common;

namespace Garnet.Server;

/// <summary>Limits on unsent replies, per class of client.</summary>
public sealed record OutputBufferLimits(BufferLimit Normal, BufferLimit Replica, BufferLimit PubSub) : ISettingValue
{
    /// <summary>As redis-server: no limit for normal clients, whose replies are bounded by what they asked for.</summary>
    public static OutputBufferLimits Default { get; } = new(default, new(256L << 20, 64L << 20, 60), new(32L << 20, 8L << 20, 60));

    public string Text => $"normal {Print(Normal)} slave {Print(Replica)} pubsub {Print(PubSub)}";

    public bool LinesAdd => false;

    /// <summary>Classes that are not named keep their limits.</summary>
    public ISettingValue? Parse(string text, out string error)
    {
        string[] words = SettingText.Words(text);
        error = "Wrong number of arguments in buffer limit configuration.";
        if (words.Length == 0 || words.Length % 4 != 0)
            return null;
        OutputBufferLimits next = this;
        for (int i = 0; i < words.Length; i += 4)
        {
            error = "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
            if (!SettingText.TryMemory(words[i + 1], out long hard) || !SettingText.TryMemory(words[i + 2], out long soft))
                return null;
            if (!SettingText.TryInteger(words[i + 3], out long seconds) || seconds is < 0 or > int.MaxValue)
                return null;
            error = "Invalid client class specified in buffer limit configuration.";
            if (next.With(words[i], new BufferLimit(hard, soft, (int)seconds)) is not { } changed)
                return null;
            next = changed;
        }
        return next;
    }

    private OutputBufferLimits? With(string clientClass, BufferLimit limit) => clientClass.ToLowerInvariant() switch
    {
        "normal" => this with { Normal = limit },
        "slave" or "replica" => this with { Replica = limit },
        "pubsub" => this with { PubSub = limit },
        _ => null,
    };

    private static string Print(BufferLimit limit) => $"{limit.HardBytes} {limit.SoftBytes} {limit.SoftSeconds}";
}
