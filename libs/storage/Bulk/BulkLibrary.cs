using System.Runtime.InteropServices;
using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>
/// Reads and writes between the memory of two processes: the binding of libgarnet-bulk (libs/native/bulk). It is optional: whoever wants it asks here
/// first whether it is there, and which of its providers this machine has.
/// bulk.M1  Memory of a transfer is pinned until its completion has been taken from the ring, whoever has given up waiting for it.
/// bulk.M2  Memory of a region is pinned until the native library has let go of it; where it does not, it stays pinned for good.
/// bulk.M3  A region and a peer hold their endpoint: it is freed behind the last of them.
/// bulk.M4  No managed code is called from native code: completions are read from mapped memory, by a thread of the endpoint.
/// It references nothing of this house, as it is a package by itself (Garnet.Rdma); of the house only the server's bulk commands may know it.
/// </summary>
public static class BulkLibrary
{
    private static readonly Lazy<string> Missing = new(Look);

    public static bool IsAvailable => Missing.Value.Length == 0;

    /// <summary>Why it is not available, in a sentence; empty if it is.</summary>
    public static string WhyNot => Missing.Value;

    /// <summary>The providers that the native library knows; none without it.</summary>
    public static unsafe IReadOnlyList<ProviderFact> Providers
    {
        get
        {
            var known = new List<ProviderFact>();
            var fact = new NativeProviderFact { Size = (uint)sizeof(NativeProviderFact) };
            for (uint at = 0; IsAvailable && BulkNative.bk_provider_at(at, &fact) == BulkStatus.Ok; at++)
                known.Add(new ProviderFact(Text(fact.Name), fact.Status == BulkStatus.Ok, Text(fact.Reason)));
            return known;
        }
    }

    internal static void Demand()
    {
        if (!IsAvailable)
            throw new BulkException(BulkStatus.Unsupported, WhyNot);
    }

    private static string Look()
    {
        if (!NativeLibrary.TryLoad(BulkNative.Name, typeof(BulkLibrary).Assembly, null, out _))
            return "The native library (libgarnet-bulk.so) is not there, or not for this machine: "
                + "it is built where cmake and a C++ compiler are.";
        uint version = BulkNative.bk_abi_version();
        return version == BulkNative.Version ? "" : $"The native library has version {version}, and not {BulkNative.Version}.";
    }

    private static unsafe string Text(byte* terminated) => Marshal.PtrToStringUTF8((nint)terminated) ?? "";
}
