using System.Text;
using Tsavorite;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>The keys of the simulation: a few of each writer's.</summary>
internal static unsafe class SimulatedKeys
{
    public const int Writers = 3, Each = 4, Count = Writers * Each;
    private const int SlackBytes = 32;

    private static readonly byte[][] s_names = [.. Enumerable.Range(0, Count).Select(static key => Pinned(Name(key)))];

    public static string Name(int key) => $"w{key / Each}.{key % Each}";

    public static KeyRef Of(Store store, int key) =>
        store.Key((byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref s_names[key][0]), s_names[key].Length - SlackBytes, store.Namespaces.Id(0));

    private static byte[] Pinned(string name)
    {
        byte[] bytes = GC.AllocateArray<byte>(name.Length + SlackBytes, pinned: true);
        Encoding.ASCII.GetBytes(name, bytes);
        return bytes;
    }
}
