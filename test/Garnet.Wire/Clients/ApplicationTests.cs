using NUnit.Framework;

namespace Garnet.Wire.Clients;

/// <summary>
/// Applications as they are, on a server of their own: each scenario starts one, has it work, and asks the server afterwards
/// what is there. A job that is lost or runs twice, a lock that two hold, a limit that lets one more through fails.
/// </summary>
[Parallelizable] // a server of its own
internal sealed class ApplicationTests
{
    private static readonly (string Script, string[] Scenarios)[] Applications =
    [
        ("bullmq.js", ["thousand", "delayed", "repeated", "prioritised", "flows", "failures", "stalled", "limits"]),
        ("rate_limiter.js", ["script", "node_redis", "multi", "window", "combined"]),
        ("redlock.js", ["exclusion", "ownership"]),
        ("sessions.js", ["visits"]),
        ("rq_app.py", ["thousand", "dependencies", "failures", "scheduled"]),
        ("celery_app.py", ["thousand", "canvas", "failures", "timing", "priorities", "restored"]),
        ("sidekiq_app.rb", ["thousand", "scheduled", "queues", "retries", "stopped"]),
    ];

    private ServerProcess? _server;

    [OneTimeSetUp]
    public void StartServer()
    {
        _ = Servers.Ours;   // skips with the reason when it is not there
        _server = ServerProcess.TryStartOurs("--transport auto");
    }

    [OneTimeTearDown]
    public void StopServer() => _server?.Dispose();

    private static IEnumerable<object[]> Cases() =>
        from application in Applications
        from scenario in application.Scenarios
        select new object[] { application.Script, scenario };

    [TestCaseSource(nameof(Cases))]
    public void An_application_works(string script, string scenario) => ClientRun.OfScript(script, _server!, scenario).Verify();
}
