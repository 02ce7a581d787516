using NUnit.Framework;

namespace Garnet.Wire.Consistency;

/// <summary>The checker takes what a server may do and refuses what it may not: each guarantee by a history that breaks it alone.</summary>
[Parallelizable] // no server at all
public sealed class CheckerTests
{
    private long _now;

    [SetUp]
    public void Clear() => _now = 0;

    [Test]
    public void Replicas_may_lag_each_by_itself()
    {
        History history = Three();
        Add(history, "one", ("a", "2"), ("b", "1"));
        Add(history, "two", ("a", null), ("b", null));
        Add(history, "two", ("a", "1"), ("b", null));
        Add(history, "one", ("a", "2"), ("b", "1"));
        Assert.That(Checker.Fault(history), Is.Null);
    }

    [Test]
    public void A_write_that_was_never_acknowledged_may_be_lost_or_late()
    {
        var history = new History();
        history.Begin(1, ("a", "1"));
        Acknowledged(history, ("b", "1"));
        Add(history, "one", ("a", null), ("b", "1"));
        Add(history, "one", ("a", "1"), ("b", "1"));
        Assert.That(Checker.Fault(history), Is.Null);
        Add(history, "one", ("a", null), ("b", "1"));
        Assert.That(Checker.Fault(history), Is.Not.Null, "seen once, seen always");
    }

    [Test]
    public void A_later_write_without_an_earlier_one_is_no_prefix() => Refuses(history => Add(history, "one", ("a", "1"), ("b", "1")));

    [Test]
    public void Half_of_a_write_is_no_prefix()
    {
        var history = new History();
        Acknowledged(history, ("a", "1"), ("b", "1"));
        Add(history, "one", ("a", "1"), ("b", null));
        Assert.That(Checker.Fault(history), Is.Not.Null);
    }

    [Test]
    public void An_older_state_after_a_newer_one_at_the_same_place_goes_back() => Refuses(history =>
    {
        Add(history, "one", ("a", "2"));
        Add(history, "one", ("a", "1"));
    });

    [Test]
    public void Two_places_that_see_two_writes_in_different_orders_have_no_sequence()
    {
        var history = new History();
        Write left = history.Begin(1, ("a", "1")), right = history.Begin(1, ("b", "1"));
        Add(history, "one", ("a", "1"), ("b", null));
        Add(history, "two", ("a", null), ("b", "1"));
        left.End = right.End = 1000;
        Assert.That(Checker.Fault(history), Is.Not.Null);
    }

    [Test]
    public void What_was_acknowledged_before_a_token_is_seen_behind_it() => Refuses(history =>
        history.Add(new Read("one", _now + 1, _now + 2, _now, [("b", null)])));

    [Test]
    public void Nothing_is_seen_before_it_was_sent()
    {
        var history = new History();
        history.Add(new Read("one", 1, 2, 0, [("a", "1")]));
        history.Begin(5, ("a", "1")).End = 6;
        Assert.That(Checker.Fault(history), Is.Not.Null);
    }

    [Test]
    public void What_was_lost_with_its_server_is_seen_nowhere_and_stands_in_nobodys_way()
    {
        var history = new History();
        Acknowledged(history, ("a", "1"), ("b", "1"));
        history.Begin(++_now, ("a", "2"), ("b", "2")).IsLost = true;
        Acknowledged(history, ("a", "3"));
        Add(history, "one", ("a", "3"), ("b", "1"));
        Assert.That(Checker.Fault(history), Is.Null);
        Add(history, "two", ("b", "2"));
        Assert.That(Checker.Fault(history), Is.Not.Null);
    }

    [Test]
    public void Nothing_is_seen_that_nobody_wrote() => Refuses(history => Add(history, "one", ("a", "x")));

    private void Refuses(Action<History> add)
    {
        History history = Three();
        Assert.That(Checker.Fault(history), Is.Null);
        add(history);
        Assert.That(Checker.Fault(history), Is.Not.Null);
    }

    private History Three()
    {
        var history = new History();
        Acknowledged(history, ("a", "1"));
        Acknowledged(history, ("a", "2"));
        Acknowledged(history, ("b", "1"));
        _now++;
        return history;
    }

    private void Acknowledged(History history, params (string, string)[] pairs)
    {
        Write write = history.Begin(++_now, pairs);
        write.End = ++_now;
    }

    private void Add(History history, string place, params (string, string?)[] seen) => history.Add(new Read(place, ++_now, ++_now, 0, seen));
}
