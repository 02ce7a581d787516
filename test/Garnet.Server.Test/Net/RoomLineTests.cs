using Garnet.Server.Clients;
using Garnet.Server.Tiering;

namespace Garnet.Server.Test.Net;

/// <summary>Who waits for room in memory, and who is served first (rules tiering.M).</summary>
internal sealed class RoomLineTests
{
    private const long BeganMs = 1_000_000, LargeBytes = 2 << 20;
    private readonly List<Connection> _clients = [];
    private RoomLine _line = null!;

    [SetUp]
    public void Begin()
    {
        _line = new RoomLine();
        _clients.Clear();
    }

    [Test]
    public void Who_came_first_is_called_first_and_who_has_found_none_again_keeps_his_place()
    {
        Connection first = Waiting(), second = Waiting(), third = Waiting();
        Assert.That(Called(), Is.EqualTo(new[] { first, second, third }));
        FindsNone(first, BeganMs + 1);
        Assert.That(Called(), Is.EqualTo(new[] { first, second, third }));
        IsServed(first);
        Assert.That((_line.IsCalled(), Called()), Is.EqualTo((true, new[] { second, third })).Using<(bool, Connection[])>(Same), "nobody has told of room, but one had some");
    }

    [Test]
    public void A_newcomer_stands_behind_who_waits_until_nobody_does()
    {
        Connection first = Waiting(), newcomer = Client();
        newcomer.Commands++;
        Assert.That(_line.IsBehind(newcomer), Is.True);
        Assert.That(MemoryWait.Next(newcomer, _line, BeganMs), Is.Not.Null);
        Assert.That(Called(), Is.EqualTo(new[] { first, newcomer }));
        first.Commands++;
        Assert.That(_line.IsBehind(first), Is.False, "it is his turn");
        newcomer.Commands++;
        Assert.That(_line.IsBehind(newcomer), Is.False, "the first was served");
    }

    [Test]
    public void Who_was_served_goes_on_with_its_pipeline_up_to_the_next_batch()
    {
        Connection first = Waiting(), second = Waiting();
        IsServed(first);
        for (int i = 0; i < 3; i++, first.Commands++) Assert.That(_line.IsBehind(first), Is.False);
        Assert.That(_line.IsCalled(), Is.True);
        Assert.That(_line.IsBehind(first), Is.True, "another batch");
        second.Commands++;
        Assert.That(_line.IsBehind(second), Is.False);
    }

    [Test]
    public void Nobody_is_called_before_room_has_come_and_each_once_for_it()
    {
        Connection first = Waiting();
        Assert.That(_line.IsCalled(), Is.False);
        _line.Come();
        Assert.That(_line.IsCalled(), Is.True);
        _line.Stop();
        FindsNone(first, BeganMs + 1);
        Assert.That(_line.IsCalled(), Is.False);
    }

    [TestCase("closed")]
    [TestCase("left")]
    [TestCase("does not read its replies")]
    public void Who_is_gone_or_cannot_go_on_holds_up_nobody(string how)
    {
        Connection first = Waiting(), second = Waiting();
        if (how == "left") _line.Leave(first);
        first.Closed = how == "closed";
        first.Parked = how != "does not read its replies"; // called, and not framed in that round
        Assert.That(_line.IsCalled(), Is.EqualTo(how != "left"));
        Assert.That(Called(), Is.EqualTo(new[] { second }));
        second.Commands++;
        Assert.That(_line.IsBehind(second), Is.False);
    }

    [Test]
    public void Who_waits_for_the_tier_meanwhile_is_passed_and_keeps_his_place()
    {
        Connection first = Waiting(), second = Waiting();
        Parking room = first.Waiting!;
        first.Waiting = new FetchWait(null!, first);
        second.Commands++;
        Assert.That(_line.IsBehind(second), Is.False);
        Assert.That(Called(), Is.EqualTo(new[] { second }));
        first.Waiting = room;
        Assert.That(Called(), Is.EqualTo(new[] { first, second }));
    }

    [Test]
    public void Where_all_wait_for_the_tier_meanwhile_nobody_is_called()
    {
        Connection first = Waiting();
        Parking room = first.Waiting!;
        first.Waiting = new FetchWait(null!, first);
        _line.Come();
        Assert.That((_line.IsCalled(), Called()), Is.EqualTo((false, Array.Empty<Connection>())).Using<(bool, Connection[])>(Same), "a reactor would look again and again");
        first.Waiting = room;
        Assert.That(_line.IsCalled(), Is.True, "what has come meanwhile is not forgotten");
    }

    [Test]
    public void Who_has_been_called_and_is_not_framed_yet_keeps_his_place()
    {
        Connection first = Waiting(), second = Waiting();
        (first.Parked, first.Carried) = (false, true);
        _line.Come();
        Assert.That(_line.IsCalled(), Is.True);
        Assert.That(Called(), Is.EqualTo(new[] { first, second }));
    }

    [Test]
    public void Who_was_served_stands_behind_who_waits_once_another_has_been_asked_about()
    {
        Connection first = Waiting(), second = Waiting(), newcomer = Client();
        IsServed(first);
        for (int i = 0; i < 2; i++, first.Commands++) Assert.That(_line.IsBehind(first), Is.False, "it goes on");
        newcomer.Commands++;
        Assert.That(_line.IsBehind(newcomer), Is.True);
        Assert.That(_line.IsBehind(first), Is.True);
        Assert.That(Called(), Is.EqualTo(new[] { second }));
    }

    [Test]
    public void So_many_are_called_as_are_asked_for()
    {
        Connection first = Waiting(), second = Waiting();
        Waiting();
        List<Connection> called = [];
        _line.CopyFirst(2, called);
        Assert.That(called, Is.EqualTo(new[] { first, second }));
    }

    [TestCase(1000, true)]
    [TestCase(LargeBytes / 2, true)]
    [TestCase(LargeBytes, false)]
    public void Who_needs_much_holds_up_others_for_as_long_as_one_who_may_evict_waits(long bytes, bool keepsPlace)
    {
        using Tsavorite.Store store = new(new Tsavorite.StoreSettings { MemoryLimitBytes = 8 << 20, BackgroundMovers = false });
        using Tsavorite.StoreSession session = store.OpenSession();
        Connection first = Waiting(), second = Waiting();
        FindsNone(first, BeganMs + MemoryWait.PatienceMs - 1).Await(session.Room, bytes, isThere: false, first, _line, BeganMs + MemoryWait.PatienceMs - 1);
        Assert.That(Called(), Is.EqualTo(new[] { first, second }));
        FindsNone(first, BeganMs + MemoryWait.PatienceMs).Await(session.Room, bytes, isThere: false, first, _line, BeganMs + MemoryWait.PatienceMs);
        Assert.That(Called(), Is.EqualTo(keepsPlace ? new[] { first, second } : [second]));
    }

    [Test]
    public void Who_may_evict_has_waited_after_a_tenth_of_a_second_and_everybody_after_ten_seconds()
    {
        Connection client = Waiting();
        Assert.That(client.Waiting!.DeadlineMs, Is.EqualTo(BeganMs + MemoryWait.PatienceMs), "looked at without being called");
        client.Commands++;
        Assert.That(MemoryWait.HasWaited(client, BeganMs + MemoryWait.PatienceMs - 1), Is.False);
        Assert.That(MemoryWait.HasWaited(client, BeganMs + MemoryWait.PatienceMs), Is.True);
        Assert.That(MemoryWait.HasEnded(client, BeganMs + 9_999), Is.False);
        Assert.That(MemoryWait.HasEnded(client, BeganMs + 10_000), Is.True);
        Assert.That(MemoryWait.Next(client, _line, BeganMs + 10_000), Is.Null);
        Assert.That(_line.HasAny, Is.False);
    }

    [Test]
    public void Another_command_of_the_same_client_begins_at_the_end_and_anew()
    {
        Connection first = Waiting(), second = Waiting();
        IsServed(first);
        first.Commands++;
        Assert.That(MemoryWait.Next(first, _line, BeganMs + 50)!.DeadlineMs, Is.EqualTo(BeganMs + 50 + MemoryWait.PatienceMs));
        Assert.That(Called(), Is.EqualTo(new[] { second, first }));
    }

    [Test]
    public void Who_has_waited_in_vain_does_not_wait_again_for_each_command_of_its_pipeline()
    {
        Connection client = Waiting();
        long nowMs = BeganMs + 10_000;
        foreach (int laterMs in (int[])[0, 0, 1, MemoryWait.PatienceMs - 1, MemoryWait.PatienceMs - 1])
        {
            client.Commands++;
            Assert.That(MemoryWait.Next(client, _line, nowMs += laterMs), Is.Null, $"{laterMs}");
        }
        client.Commands++;
        Assert.That(MemoryWait.Next(client, _line, nowMs + MemoryWait.PatienceMs), Is.Not.Null, "a while later there may be some to come");
    }

    [Test]
    public void Who_can_never_have_room_for_one_command_waits_for_the_next()
    {
        Connection client = Client();
        FindsNone(client, BeganMs).GiveUp(client, _line, BeganMs);
        client.Commands++;
        Assert.That(MemoryWait.Next(client, _line, BeganMs), Is.Null);
        client.Commands++;
        Assert.That(MemoryWait.Next(client, _line, BeganMs), Is.Not.Null);
    }

    private static bool Same((bool Is, Connection[] Clients) one, (bool Is, Connection[] Clients) other) => one.Is == other.Is && one.Clients.SequenceEqual(other.Clients);

    private Connection Client()
    {
        Connection client = new(null!, _clients.Count, new PeerAddress(""), 0);
        _clients.Add(client);
        return client;
    }

    private Connection Waiting()
    {
        Connection client = Client();
        FindsNone(client, BeganMs);
        return client;
    }

    // Its command is framed, or is so again, and is put off.
    private MemoryWait FindsNone(Connection client, long nowMs)
    {
        client.Commands++;
        MemoryWait wait = MemoryWait.Next(client, _line, nowMs)!;
        (client.Waiting, client.Parked) = (wait, true);
        return wait;
    }

    private static void IsServed(Connection client)
    {
        client.Commands++;
        (client.Waiting, client.Parked) = (null, false);
    }

    private Connection[] Called()
    {
        List<Connection> called = [];
        _line.CopyFirst(64, called);
        return [.. called];
    }
}
