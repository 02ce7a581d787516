using System.Text;
using Garnet.Admin.Http;
using Garnet.Server.Telemetry;

namespace Garnet.Admin;

/// <summary>What is answered to a request that is let in. Paths are compared as they are: there are no files behind them, and nothing to climb out of.</summary>
internal sealed class AdminAnswers(ServerTelemetry telemetry)
{
    /// <summary>Where a browser is asked for a name and a password.</summary>
    private const string LoginPath = "/login";

    private const string OpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    private static readonly Dictionary<string, (string ContentType, byte[] Body)> Page = new(StringComparer.Ordinal)
    {
        ["/"] = ("text/html; charset=utf-8", Resource("page.html")),
        ["/icon.svg"] = ("image/svg+xml", Resource("icon.svg")),
        ["/page.css"] = ("text/css; charset=utf-8", Resource("page.css")),
        ["/page.js"] = ("text/javascript; charset=utf-8", Resource("page.js")),
    };

    internal static HttpResponse Refusal(HttpStatus status) => status switch
    {
        HttpStatus.MethodNotAllowed => HttpResponse.Text(status, "Everything here can only be read.") with
        {
            Fields = "Allow: GET, HEAD\r\n",
        },
        HttpStatus.ContentTooLarge => HttpResponse.Text(status, "No request here has a body."),
        HttpStatus.RequestHeaderFieldsTooLarge => HttpResponse.Text(status, $"A request has {AdminLimits.RequestBytesMax} bytes at most."),
        _ => HttpResponse.Text(status, "This is not a request that can be read."),
    };

    /// <summary>What is answered to a wrong name or password.</summary>
    internal static HttpResponse LoginNeeded { get; } =
        HttpResponse.Text(HttpStatus.Unauthorized, "A user of this server, and the password.") with
        {
            Fields = "WWW-Authenticate: Basic realm=\"Garnet\", charset=\"UTF-8\"\r\n",
        };

    /// <summary>Who looks: null for somebody who has not said so. False if he has, and that is wrong.</summary>
    internal bool TryViewer(HttpRequest request, HttpConnection connection, out Viewer? viewer)
    {
        bool isLocal = connection.IsLocal && !request.IsForwarded; // a proxy on this machine asks for others
        viewer = null;
        if (request.Authorization.Length == 0)
            viewer = telemetry.Anybody(isLocal);
        else if (Credentials.Of(request.Authorization) is { } said)
            viewer = telemetry.LogIn(said.Name, said.Password, isLocal, connection.From);
        return viewer is not null || request.Authorization.Length == 0;
    }

    internal HttpResponse Of(HttpRequest request, HttpConnection connection)
    {
        switch (request.Path)
        {
            case "/healthz":
                return HttpResponse.Text(HttpStatus.Ok, "ok");
            case "/readyz":
                return Ready();
            case "/metrics":
                return new HttpResponse(HttpStatus.Ok, OpenMetrics, telemetry.Metrics());
            case EventStream.Path when request.IsHead:
                return new HttpResponse(HttpStatus.Ok, EventStream.ContentType, []);
            case LoginPath:
                return LogIn(request, connection);
            default:
                return Page.TryGetValue(request.Path, out (string ContentType, byte[] Body) file)
                    ? new HttpResponse(HttpStatus.Ok, file.ContentType, file.Body)
                    : HttpResponse.Text(HttpStatus.NotFound, "There is /, /metrics, /healthz and /readyz.");
        }
    }

    private HttpResponse Ready()
    {
        IReadOnlyList<ReadyCondition> conditions = telemetry.Ready();
        var text = new StringBuilder();
        foreach (ReadyCondition condition in conditions)
            text.Append(condition.Name).Append(": ").Append(condition.Holds ? "ok" : condition.Problem).Append('\n');
        HttpStatus status = conditions.All(static condition => condition.Holds) ? HttpStatus.Ok : HttpStatus.ServiceUnavailable;
        return HttpResponse.Text(status, text.ToString().TrimEnd('\n'));
    }

    // Back to the page once the browser knows the name and the password: it sends them by itself from then on.
    private HttpResponse LogIn(HttpRequest request, HttpConnection connection)
    {
        if (request.Authorization.Length == 0 || !TryViewer(request, connection, out _))
            return LoginNeeded;
        return HttpResponse.Text(HttpStatus.SeeOther, "Logged in.") with { Fields = "Location: /\r\n" };
    }

    private static byte[] Resource(string name)
    {
        using Stream stream = typeof(AdminAnswers).Assembly.GetManifestResourceStream(name)!;
        byte[] bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }
}
