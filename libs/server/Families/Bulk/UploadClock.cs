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
    // The time of one that begins may be shorter than that of those before it.
    private const int LookMs = 1000;

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
        upload.UntilMs = call.NowMs + call.Server.Settings.Bulk.UploadTimeoutMs;
        if (session.IsWatched)
            return;
        session.IsWatched = true;
        _ = Watch(call.Worker, call.Client, session, upload.UntilMs - call.NowMs);
    }

    // One watch for each session, however many values it has begun: it ends when none is left.
    private static async Task Watch(Worker worker, Connection client, BulkSession session, long waitMs)
    {
        await Task.Delay((int)Math.Clamp(waitMs, 1, LookMs)).ConfigureAwait(false);
        if (!worker.IsStopping)
            worker.Post(Look, client, session);
    }

    private static void Look(Worker worker, Connection? client, object? content)
    {
        var session = (BulkSession)content!;
        long next = session.EndUploads(worker.NowMs);
        session.IsWatched = next != long.MaxValue;
        if (session.IsWatched)
            _ = Watch(worker, client!, session, next - worker.NowMs);
    }
}
