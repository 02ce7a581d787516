using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>A call or a transfer that did not end well; <see cref="Status"/> says how, the message what the provider had to say.</summary>
public sealed class BulkException : IOException
{
    internal BulkException(BulkStatus status, string detail)
        : base(detail.Length == 0 ? $"{status}" : $"{status}: {detail}") => Status = status;

    public BulkStatus Status { get; }

    /// <summary>Of a call of this thread.</summary>
    internal static void ThrowUnlessOk(BulkStatus status)
    {
        if (status != BulkStatus.Ok)
            throw new BulkException(status, BulkNative.LastError());
    }
}
