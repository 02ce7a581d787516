using System.Buffers;
using Garnet.Bulk;

namespace Garnet.BulkCopy;

/// <summary>The process whose memory the other one reads and writes; it does nothing itself.</summary>
internal static class Exposed
{
    public static async Task RunAsync(string provider, int bytes, string where)
    {
        string? host = where is "" or "heap" ? null : where;
        await using var endpoint = BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true, Bind = host });
        using IMemoryOwner<byte>? segment = where.Length == 0 ? BulkSegment.Open(bytes) : null;
        Memory<byte> memory = segment?.Memory ?? GC.AllocateUninitializedArray<byte>(bytes, pinned: true);
        Pattern.Fill(memory.Span);
        using BulkRegion region = endpoint.Register(memory, BulkAccess.Read | BulkAccess.Write);
        Console.WriteLine($"{Convert.ToHexString(endpoint.Address.Span)} {region.Name}");
        await Console.In.ReadToEndAsync();
    }
}
