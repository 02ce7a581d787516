using System.Buffers;
using System.Text.Json;
using Garnet.Server.Commands;

namespace Garnet.Server.Telemetry;

/// <summary>
/// What a server tells of itself to whoever is no client of its protocol: metrics, whether it is ready, and what a page shows. All of it is read while the reactors work, and
/// none of it changes anything. Several threads may ask; they are answered one after the other, so that what a question takes there is once.
/// </summary>
public sealed class ServerTelemetry
{
    internal static readonly string Version = typeof(ServerTelemetry).Assembly.GetName().Version?.ToString(3) ?? "";

    private static readonly Figure[] Always = [.. ServerFigures.All, .. WorkFigures.All, .. KeepingFigures.All, .. BulkSessionFigures.All];
    private static readonly LabelledMetric[] Labelled = [.. NodeMetrics.All, .. CommandMetrics.All];

    /// <summary>For so long an overview is shown again: pages ask every second.</summary>
    private const long OverviewUs = 500_000;

    private readonly Lock _gate = new();
    private readonly ServerContext _server;
    private long[] _buckets = []; // a hundred kilobytes, once
    private readonly MetricText _text = new();
    private readonly ArrayBufferWriter<byte> _page = new(32 * 1024); // what a page without much to say takes
    private bool _isClosed;
    private byte[] _overview = [];
    private long _overviewUs = long.MinValue;

    internal ServerTelemetry(ServerContext server) => _server = server;

    /// <summary>Every metric there is, whatever this server has to do with it.</summary>
    public static IEnumerable<MetricDeclaration> Declared =>
        Always.Concat(TieringFigures.All).Select(static figure => figure.Declared)
            .Concat(Labelled.Select(static metric => metric.Declared));

    /// <summary>All metrics, as OpenMetrics has them; none once the server is disposed of, as with the questions below.</summary>
    public byte[] Metrics()
    {
        lock (_gate)
            return Metrics(_isClosed ? null : Next());
    }

    /// <summary>The user as whom everybody on this machine looks; null if the default user has a password, or somebody asks from elsewhere.</summary>
    public Viewer? Anybody(bool isLocal) => ViewerLogin.Anybody(_server, isLocal);

    /// <summary>The user of that name; null if the password is wrong, or if he needs none and comes from elsewhere.</summary>
    public Viewer? LogIn(ReadOnlySpan<byte> name, ReadOnlySpan<byte> password, bool isLocal, string from) =>
        ViewerLogin.LogIn(_server, name, password, isLocal, from);

    /// <summary>What the page shows now, as JSON; of the lists that need a right, those of the viewer.</summary>
    public byte[] Page(Viewer? viewer, bool withSettings)
    {
        lock (_gate)
            return _isClosed ? [] : Page(Overview(), viewer, withSettings);
    }

    /// <summary>What must hold for clients to be sent here, and whether it does.</summary>
    public IReadOnlyList<ReadyCondition> Ready()
    {
        lock (_gate)
            return _isClosed ? [new ReadyCondition("serving", "the server has stopped")] : Readiness.Of(_server);
    }

    /// <summary>Those that this server has something to do with.</summary>
    internal static IEnumerable<Figure> FiguresOf(Moment moment) => moment.Store.Tier is null ? Always : Always.Concat(TieringFigures.All);

    /// <summary>Nothing of the server is looked at from here on: its memory is given back.</summary>
    internal void Close()
    {
        lock (_gate)
            _isClosed = true;
    }

    private byte[] Metrics(Moment? moment)
    {
        _text.Clear();
        if (moment is null)
            return _text.End();
        foreach (Figure figure in FiguresOf(moment))
        {
            _text.Begin(figure.Declared);
            _text.Sample(figure.Read(moment) * figure.Scale);
        }

        foreach (LabelledMetric metric in Labelled)
        {
            _text.Begin(metric.Declared);
            metric.Write(moment, _text);
        }

        return _text.End();
    }

    private byte[] Page(byte[] overview, Viewer? viewer, bool withSettings)
    {
        _page.ResetWrittenCount();
        using (var json = new Utf8JsonWriter(_page))
        {
            json.WriteStartObject();
            json.WritePropertyName("overview");
            json.WriteRawValue(overview, skipInputValidation: true);
            if (viewer is not null)
                json.WriteString("viewer", viewer.Name);
            if (viewer is { SeesSlowLog: true })
                PageLists.SlowLog(json, _server);
            if (viewer is { SeesHotKeys: true })
                PageLists.HotKeys(json, _server);
            if (viewer is { SeesClients: true })
                PageLists.Clients(json, _server);
            if (withSettings && viewer is { SeesSettings: true })
                PageLists.Settings(json, _server);
            json.WriteEndObject();
        }

        return _page.WrittenSpan.ToArray();
    }

    // The same for all who look within a moment; under the lock.
    private byte[] Overview()
    {
        long now = _server.Clock.MonotonicUs;
        if (_overview.Length == 0 || now - _overviewUs >= OverviewUs)
            (_overview, _overviewUs) = (PageOverview.Of(Next()), now);
        return _overview;
    }

    private Moment Next()
    {
        _server.Monitoring.Statistics.TimedByBucket(ref _buckets);
        return new Moment(_server, _buckets);
    }
}
