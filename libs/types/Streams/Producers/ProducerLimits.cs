using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>How long what producers have sent is remembered, and how much of it per producer.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public readonly record struct ProducerLimits(int Seconds, int Names)
{
    public const int SecondsMax = 86_400, NamesMax = 10_000;

    public static unsafe int Bytes => sizeof(ProducerLimits);

    public bool AreValid => Seconds is >= 1 and <= SecondsMax && Names is >= 1 and <= NamesMax;

    public static ProducerLimits Of(EncodingSettings settings) =>
        new((int)settings.StreamProducerSeconds, (int)settings.StreamProducerNamesMax);
}
