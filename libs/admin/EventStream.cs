using System.Net.Sockets;
using Garnet.Admin.Http;
using Garnet.Server.Telemetry;

namespace Garnet.Admin;

/// <summary>
/// The stream that the page lives on: an event a second, all the page shows in it. A reader that does not keep up holds up nothing but itself, and not for long: an event is made
/// when the one before has been taken.
/// </summary>
internal sealed class EventStream(ServerTelemetry telemetry, TimeProvider time)
{
    internal const string Path = "/events", ContentType = "text/event-stream";

    // What the browser waits before it asks anew, milliseconds: as long as from event to event, so that the end of a stream is not seen.
    private static readonly byte[] Retry = "retry: 1000\n\n"u8.ToArray();

    private static readonly byte[] EventBegin = "data: "u8.ToArray(), EventEnd = "\n\n"u8.ToArray();

    private int _streams;

    internal async Task RunAsync(HttpConnection connection, Viewer? viewer)
    {
        try
        {
            if (Interlocked.Increment(ref _streams) > AdminLimits.StreamsMax)
            {
                var full = HttpResponse.Text(HttpStatus.ServiceUnavailable, $"{AdminLimits.StreamsMax} pages are looked at.");
                await connection.SendAsync(full, withBody: true).ConfigureAwait(false);
                return;
            }

            await SendAsync(connection, viewer).ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref _streams);
        }
    }

    private async Task SendAsync(HttpConnection connection, Viewer? viewer)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(connection.Stop);
        Task watch = WatchAsync(connection, end);
        using var timer = new PeriodicTimer(AdminLimits.EventTime, time);
        await connection.SendAsync(HttpResponse.HeadOfStream(ContentType)).ConfigureAwait(false);
        await connection.SendAsync(Retry).ConfigureAwait(false);
        try
        {
            for (int i = 0; i < AdminLimits.EventsMax && !end.IsCancellationRequested; i++)
            {
                byte[] page = telemetry.Page(viewer, withSettings: i % AdminLimits.EventsPerSettings == 0);
                if (page.Length == 0)
                    return; // the server has stopped
                await connection.SendAsync(EventBegin).ConfigureAwait(false);
                await connection.SendAsync(page).ConfigureAwait(false);
                await connection.SendAsync(EventEnd).ConfigureAwait(false);
                await timer.WaitForNextTickAsync(end.Token).ConfigureAwait(false);
            }
        }
        finally
        {
            await end.CancelAsync().ConfigureAwait(false);
            await watch.ConfigureAwait(false);
        }
    }

    private static async Task WatchAsync(HttpConnection connection, CancellationTokenSource end)
    {
        try
        {
            await connection.EndOfReaderAsync(end.Token).ConfigureAwait(false);
            await end.CancelAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // The stream has ended, or breaks when it is next written to.
        }
    }
}
