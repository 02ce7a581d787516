using System.Diagnostics;
using Garnet.Bulk;
using Garnet.Bulk.Native;
using Garnet.Common.Test;
using Garnet.Server.Base;
using Garnet.Server.Bulk;

namespace Garnet.Server.Test.Bulk;

/// <summary>Sessions whose memory nothing lets go of, by script: what they cost others, and how the server stops meanwhile.</summary>
internal sealed class BulkSessionsTests
{
    private const string Provider = "loop";
    private const int Bytes = 1000;

    private RecordedLines _lines = new();
    private readonly List<BulkEndpoint> _own = [];
    private readonly byte[] _memory = GC.AllocateUninitializedArray<byte>(Bytes, pinned: true);
    private BulkEndpoint _exposed = null!;
    private BulkRegion _region = null!;

    [OneTimeSetUp]
    public void The_library_is_there()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
        _exposed = BulkEndpoint.Open(Provider, new BulkEndpointOptions { Exposes = true });
        _region = _exposed.Register(_memory, BulkAccess.Read | BulkAccess.Write);
    }

    [OneTimeTearDown]
    public void Nothing_is_left()
    {
        _region?.Dispose();
        _exposed?.Close(TimeSpan.FromSeconds(10));
    }

    [SetUp]
    public void Begin()
    {
        _lines = new RecordedLines();
        _own.Clear();
    }

    [Test]
    public void What_holds_a_session_up_takes_no_place_and_no_bytes_of_others()
    {
        BulkSessions sessions = Make(new BulkSettings { SessionsMax = 1, BytesMax = Bytes, TimeoutMs = 60_000 });
        BulkSession first = Open(sessions)!;
        Assert.That(Open(sessions), Is.Null, "it has the only place");
        Task<TransferEnd> held = Hang(first);
        Assert.That(first.Close("it has gone").InTime(), Is.False);
        Eventually.Holds(() => sessions.Held == 1);
        Assert.That((sessions.Reaching, sessions.Lost, sessions.Count), Is.EqualTo((0, 1, 0)));
        Eventually.Holds(() => sessions.Budget.Bytes == 0);

        BulkSession second = Open(sessions)!;
        Task<TransferEnd> alsoHeld = Hang(second);
        Assert.That(second.Close("it has gone").InTime(), Is.False);
        Eventually.Holds(() => sessions.Held == 2);
        Assert.That((sessions.Reaching, sessions.Budget.Bytes), Is.EqualTo((1, (long)Bytes)), "there are as many places apart as sessions");
        Assert.That(Open(sessions), Is.Null);

        LetGo(0);
        LetGo(1);
        Eventually.Holds(() => sessions.Held == 0);
        Assert.That((sessions.Reaching, held.InTime(), alsoHeld.InTime()), Is.EqualTo((0, TransferEnd.Closed, TransferEnd.Closed)));
        first.Give(Bytes);
        second.Give(Bytes);
        Assert.That((sessions.Budget.Bytes, sessions.Budget.Operations), Is.EqualTo((0, 0)));
        Eventually.Holds(() => _lines.All.Count(static line => line.Contains("is free", StringComparison.Ordinal)) == 2); // told behind it
        Assert.That(Open(sessions), Is.Not.Null);
        Assert.That(sessions.TryClose(), Is.True, "what was held once and came back is no reason to keep memory");
    }

    [Test]
    public void A_client_that_cannot_be_met_has_its_answer_before_its_endpoint_has_closed()
    {
        BulkSessions sessions = Make(new BulkSettings { SessionsMax = 1 });
        Assert.That(sessions.TryOpenReaching(Provider, [1, 2, 3], "", out string why), Is.Null);
        Assert.That(why, Is.Not.Empty);
        Eventually.Holds(() => sessions.Reaching == 0 && sessions.Count == 0);
        sessions.Open = static (_, _) => throw new BulkException(BulkStatus.NoMemory, "no thread");
        Assert.That(sessions.TryOpenReaching(Provider, [], "", out why), Is.Null);
        Assert.That((why, sessions.Reaching), Is.EqualTo(("NoMemory: no thread", 0)));
    }

    [Test]
    public void A_stop_says_what_it_waits_for_and_does_not_wait_for_ever()
    {
        BulkSessions sessions = Make(new BulkSettings { TimeoutMs = 60_000 });
        sessions.CloseLimit = TimeSpan.FromMinutes(1);
        BulkSession session = Open(sessions)!;
        _ = Hang(session);
        var time = Stopwatch.StartNew();
        Assert.That(sessions.TryClose(), Is.False);
        Assert.That(time.Elapsed, Is.LessThan(TimeSpan.FromSeconds(20)));
        Assert.That(_lines.All, Has.Exactly(1).Contains("The stop waits for 1 bulk session whose memory").And.Exactly(1).Contains("The stop goes on while"));
        LetGo(0);
        Eventually.Holds(() => sessions.Reaching == 0);
    }

    [Test]
    public void A_stop_with_nothing_to_wait_for_says_nothing()
    {
        BulkSessions sessions = Make(new BulkSettings());
        Assert.That(Open(sessions), Is.Not.Null);
        Assert.That(sessions.TryClose(), Is.True);
        Assert.That(_lines.All, Is.Empty);
    }

    private BulkSessions Make(BulkSettings settings) => new(settings, new ServerLog(_lines))
    {
        CloseLimit = TimeSpan.FromMilliseconds(20),
        Open = (carrier, _) =>
        {
            _own.Add(BulkEndpoint.Open(carrier, new BulkEndpointOptions { HasVirtualClock = true }));
            return _own[^1];
        },
    };

    private BulkSession? Open(BulkSessions sessions) => sessions.TryOpenReaching(Provider, _exposed.Address.ToArray(), "", out _);

    // A transfer that goes on for an hour when it is to stop.
    private Task<TransferEnd> Hang(BulkSession session)
    {
        Assert.That(session.TryTake(Bytes, null), Is.True);
        BulkEndpoint own = _own[^1];
        own.Script(new NativeLoopFault { Kind = LoopFaultKind.Hang, LaterNs = 3_600_000_000_000 });
        Task<TransferEnd> moves = session.MoveAsync(writes: false, new byte[Bytes], [_region.Name.Range(0, Bytes)]).AsTask();
        Eventually.Holds(() => own.Figures.TransfersOpen == 1);
        own.Advance(TimeSpan.Zero);
        return moves;
    }

    private void LetGo(int index) => _own[index].Advance(TimeSpan.FromHours(2));
}
