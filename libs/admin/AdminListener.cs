using System.Net;
using System.Net.Sockets;
using Garnet.Admin.Http;
using Garnet.Common;
using Garnet.Server;
using Garnet.Server.Telemetry;
using Microsoft.Extensions.Logging;

namespace Garnet.Admin;

/// <summary>
/// The listener for operators (<c>admin-port</c>): HTTP on the thread pool, beside the reactors and without them. Everything can only be read.
///
/// admin.L1  A connection is one request and one answer. What it may take, in bytes and in time, is in <see cref="AdminLimits"/>; beyond that it is closed.
/// admin.L2  Nothing that happens here ends the server: a connection that fails is closed, and the next one is accepted.
/// </summary>
public sealed class AdminListener : IDisposable
{
    private const int Backlog = 64, AcceptPauseMs = 100;
    private static readonly TimeSpan StopTime = TimeSpan.FromSeconds(2);

    private readonly AdminSettings _settings;
    private readonly AdminAnswers _answers;
    private readonly EventStream _events;
    private readonly ILogger _log;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stop = new();
    private readonly List<Socket> _sockets = [];
    private readonly List<Task> _accepting = [];
    private int _connections;

    internal AdminListener(RespServer server, ILogger log, TimeProvider time)
    {
        (_settings, _log, _time) = (server.Settings.Admin, log, time);
        _answers = new AdminAnswers(server.Telemetry);
        _events = new EventStream(server.Telemetry, time);
    }

    /// <summary>The port in use.</summary>
    internal int Port => _sockets.Count == 0 ? 0 : ((IPEndPoint)_sockets[0].LocalEndPoint!).Port;

    /// <summary>Connections that are served now.</summary>
    internal int Connections => Volatile.Read(ref _connections);

    /// <summary>Starts listening, which whoever calls asks of the settings (<see cref="AdminSettings.Serves"/>).</summary>
    /// <exception cref="GarnetException">An address cannot be had.</exception>
    public static IDisposable Start(RespServer server, ILogger log)
    {
        ArgumentNullException.ThrowIfNull(server);
        var listener = new AdminListener(server, log, TimeProvider.System);
        try
        {
            listener.Open();
            return listener;
        }
        catch (GarnetException)
        {
            listener.Dispose();
            throw;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _stop.Cancel();
        foreach (Socket socket in _sockets)
            socket.Dispose();
        Task.WaitAll([.. _accepting], StopTime);
        SpinWait.SpinUntil(() => Connections == 0, StopTime); // the token ends whatever they wait for
    }

    /// <summary>Opens the addresses.</summary>
    internal void Open()
    {
        foreach (string bind in _settings.Bind)
        {
            if (ListenAt(bind) is { } socket)
                _sockets.Add(socket);
        }

        if (_sockets.Count == 0)
            throw Refused(string.Join(' ', _settings.Bind), "there is no such address here", ExitKind.Configuration);
        foreach (Socket socket in _sockets)
        {
            _accepting.Add(AcceptAsync(socket));
            AdminLog.Listening(_log, socket.LocalEndPoint!);
        }

        if (_settings.Bind.Any(static bind => !IPAddress.TryParse(bind.TrimStart('-'), out IPAddress? one) || !IPAddress.IsLoopback(one)))
            AdminLog.ReachesNetwork(_log);
    }

    private Socket? ListenAt(string bind)
    {
        string text = bind.TrimStart('-');
        IPAddress? address = text switch
        {
            "*" => IPAddress.Any,
            "::*" => IPAddress.IPv6Any,
            _ => IPAddress.TryParse(text, out IPAddress? parsed) ? parsed : throw Refused(bind, "it is no address", ExitKind.Configuration),
        };
        int port = _settings.AnyPort ? Port : _settings.Port;
        var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            if (address.AddressFamily == AddressFamily.InterNetworkV6)
                socket.DualMode = false;
            socket.Bind(new IPEndPoint(address, port));
            socket.Listen(Backlog);
            return socket;
        }
        catch (SocketException e)
        {
            socket.Dispose();
            bool isMissing = e.SocketErrorCode is SocketError.AddressNotAvailable or SocketError.AddressFamilyNotSupported;
            if (isMissing && bind.StartsWith('-'))
                return null;
            ExitKind kind = e.SocketErrorCode == SocketError.AccessDenied ? ExitKind.Permission : ExitKind.PortInUse;
            throw Refused($"{text} port {port}", e.Message, kind);
        }
    }

    private static GarnetException Refused(string where, string why, ExitKind kind) =>
        new(kind, $"admin-port cannot be opened at {where}", why,
            "Set admin-port to a port that is free, 0 for none, and admin-bind to addresses of this machine");

    private async Task AcceptAsync(Socket listening)
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                Socket client = await listening.AcceptAsync(_stop.Token).ConfigureAwait(false);
                _ = ServeAsync(client);
            }
            catch (SocketException e)
            {
                AdminLog.AcceptFailed(_log, e.Message);
                if (!await PauseAsync().ConfigureAwait(false))
                    return;
            }
            catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
            {
                return;
            }
        }
    }

    // There are no descriptors, say: that is over sooner or later, and asking at once again would take a core.
    private async Task<bool> PauseAsync()
    {
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(AcceptPauseMs), _time);
        try
        {
            return await timer.WaitForNextTickAsync(_stop.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    private async Task ServeAsync(Socket client)
    {
        try
        {
            if (Interlocked.Increment(ref _connections) > AdminLimits.ConnectionsMax)
                return;
            client.NoDelay = true;
            client.SendBufferSize = AdminLimits.SendBytesMax;
            using var connection = new HttpConnection(client, _time, _stop.Token);
            await AnswerAsync(connection).ConfigureAwait(false);
        }
        catch (Exception e) when (e is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // Whoever asked has gone, or took too long (admin.L1).
        }
        finally
        {
            Interlocked.Decrement(ref _connections);
            client.Dispose();
        }
    }

    private async Task AnswerAsync(HttpConnection connection)
    {
        (HttpRequest? request, HttpStatus refusal) = await connection.ReadAsync().ConfigureAwait(false);
        if (request is null)
        {
            if (refusal != HttpStatus.Ok)
                await connection.SendAsync(AdminAnswers.Refusal(refusal), withBody: true).ConfigureAwait(false);
        }
        else if (RequestGuard.Refusal(request, connection.Local, _settings.Hosts) is { } refused)
            await connection.SendAsync(refused, !request.IsHead).ConfigureAwait(false);
        else if (request is { Path: EventStream.Path, IsHead: false })
            await StreamAsync(connection, request).ConfigureAwait(false);
        else
            await connection.SendAsync(_answers.Of(request, connection), !request.IsHead).ConfigureAwait(false);
        await connection.CloseAsync().ConfigureAwait(false);
    }

    private async Task StreamAsync(HttpConnection connection, HttpRequest request)
    {
        if (_answers.TryViewer(request, connection, out Viewer? viewer))
            await _events.RunAsync(connection, viewer).ConfigureAwait(false);
        else
            await connection.SendAsync(AdminAnswers.LoginNeeded, withBody: true).ConfigureAwait(false);
    }
}
