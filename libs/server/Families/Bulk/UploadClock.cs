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
    private const int LookMs = 250; // memory of nobody's may lie so much longer

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
        if (session.Watch is not null)
            return;
        Worker worker = call.Worker;
        Connection client = call.Client;
        session.Watch = new Timer(_ => Wake(worker, client, session), null, LookMs, LookMs);
    }

    private static void Wake(Worker worker, Connection client, BulkSession session)
    {
        if (!worker.IsStopping)
            worker.Post(Look, client, session);
    }

    // One watch for each session, however many values it has begun: it ends when none is left.
    private static void Look(Worker worker, Connection? client, object? content)
    {
        var session = (BulkSession)content!;
        if (session.EndUploads(worker.NowMs))
            return;
        session.Watch?.Dispose();
        session.Watch = null;
    }
}
