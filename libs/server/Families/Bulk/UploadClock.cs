using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Bulk;

/// <summary>
/// Values that come in parts and of which nothing more comes are given up after bulk-upload-timeout, whether their clients say something
/// or not.
/// </summary>
internal static class UploadClock
{
    /// <summary>The upload of a token; false if there is none, with what was answered.</summary>
    internal static bool TryUpload(ref Call call, BulkSession session, int index, out BulkUpload upload, out Reply failed)
    {
        session.EndUploads(call.NowMs);
        upload = null!;
        bool isThere = BulkCommands.TryNumber(ref call, index, out ulong token) && session.TryUpload(token, out upload);
        failed = isThere ? Reply.Sent : call.FailBytes("BULKNOREG there is no value under way of that token; it may have been given up"u8);
        return isThere;
    }

    /// <summary>Something has come of it.</summary>
    internal static void Renew(ref Call call, BulkSession session, BulkUpload upload)
    {
        int timeoutMs = call.Server.Settings.Bulk.UploadTimeoutMs;
        bool isNew = upload.UntilMs == 0;
        upload.UntilMs = call.NowMs + timeoutMs;
        if (isNew)
            _ = Watch(call.Worker, call.Client, session, timeoutMs);
    }

    // One watch for each upload; it ends with the last look at which nothing was left that it could have been begun for.
    private static async Task Watch(Worker worker, Connection client, BulkSession session, int waitMs)
    {
        await Task.Delay(waitMs + 1).ConfigureAwait(false);
        worker.Post(Look, client, session);
    }

    private static void Look(Worker worker, Connection? client, object? content)
    {
        var session = (BulkSession)content!;
        long next = session.EndUploads(worker.NowMs);
        if (next != long.MaxValue && !session.IsClosed)
            _ = Watch(worker, client!, session, (int)Math.Clamp(next - worker.NowMs, 1, int.MaxValue - 1));
    }
}
