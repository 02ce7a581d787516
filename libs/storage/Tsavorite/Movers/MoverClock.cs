namespace Tsavorite;

/// <summary>The movers' wall clock where the settings give none.</summary>
internal static class MoverClock
{
    public static long NowMs() => TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds();
}
