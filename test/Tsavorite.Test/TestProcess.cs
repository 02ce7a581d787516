using System.Runtime.CompilerServices;

namespace Tsavorite.Test;

/// <summary>Switches the engine's yield points on before anything of it runs.</summary>
internal static class TestProcess
{
    [ModuleInitializer]
    internal static void SwitchYieldPointsOn() => AppContext.SetSwitch(StoreTestHooks.InterleavesName, true);
}
