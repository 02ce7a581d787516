using NUnit.Framework;

namespace Garnet.Host.Test;

/// <summary>What commands leave on the managed heap goes once nobody does anything, and not before.</summary>
public sealed class IdleGarbageTests
{
    private const long Much = IdleGarbage.BytesMax + 1;
    private long _heap, _spare;
    private int _collections, _forced;

    [Test]
    public void It_is_collected_once_and_only_when_the_heap_stands_still()
    {
        (_heap, _collections, _forced) = (5 << 20, 1, 0);
        var garbage = new IdleGarbage(() => _heap, () => _heap + _spare, () => _collections, () =>
        {
            _forced++;
            _collections++;
            _heap = 5 << 20;
        });
        Look(garbage, 0);
        Look(garbage, Much);
        Assert.That(_forced, Is.Zero, "it has just grown");
        Look(garbage, 4 << 20);
        Assert.That(_forced, Is.Zero, "it grows still");
        Look(garbage, 0);
        Assert.That(_forced, Is.EqualTo(1));
        for (int i = 0; i < 10; i++) Look(garbage, 1000);
        Assert.That(_forced, Is.EqualTo(1), "there is nothing more");
    }

    [Test]
    public void What_a_full_collection_has_left_is_asked_for_once()
    {
        (_heap, _collections, _forced) = (Much * 4, 1, 0);
        var garbage = new IdleGarbage(() => _heap, () => _heap + _spare, () => _collections, () => _forced++);
        for (int i = 0; i < 5; i++) Look(garbage, 0);
        Assert.That(_forced, Is.EqualTo(1), "it may have been in use only then");
        _collections++; // by the runtime itself, with much more in use
        _heap += Much;
        for (int i = 0; i < 5; i++) Look(garbage, 0);
        Assert.That(_forced, Is.EqualTo(2));
    }

    [Test]
    public void What_the_runtime_keeps_of_the_system_s_memory_is_asked_for_once()
    {
        (_heap, _spare, _collections, _forced) = (5 << 20, Much, 1, 0);
        var garbage = new IdleGarbage(() => _heap, () => _heap + _spare, () => _collections, () =>
        {
            _forced++;
            _collections++;
        });
        for (int i = 0; i < 5; i++) Look(garbage, 0);
        Assert.That(_forced, Is.EqualTo(1), "what it does not give it needs");
        _collections++;
        for (int i = 0; i < 5; i++) Look(garbage, 0);
        Assert.That(_forced, Is.EqualTo(2));
        _spare = 0;
    }

    /// <summary>A client's name of a gigabyte stayed after the client had gone: nothing grew, and nobody collected.</summary>
    [Test]
    public void What_was_in_use_at_the_last_collection_is_asked_for_again_later_and_later()
    {
        (_heap, _spare, _collections, _forced) = (Much * 4, 0, 1, 0);
        var garbage = new IdleGarbage(() => _heap, () => _heap + _spare, () => _collections, () => _forced++);
        var at = new List<int>();
        for (int look = 0; look < 1000; look++)
        {
            int before = _forced;
            Look(garbage, 0);
            if (_forced > before) at.Add(look);
        }
        Assert.That(at, Has.Count.InRange(5, 7));
        Assert.That(at[1] - at[0], Is.InRange(25, 35), "seconds");
        Assert.That(at[^1] - at[^2], Is.GreaterThan(200));
    }

    /// <summary>A gigabyte of copies that a MIGRATE had left stayed for as long as other clients were at work.</summary>
    [Test]
    public void Much_is_collected_beside_those_who_are_busy()
    {
        const long Busy = 2 << 20;
        long inUse = 0;
        (_heap, _spare, _collections, _forced) = (5 << 20, 0, 1, 0);
        var garbage = new IdleGarbage(() => _heap, () => _heap + _spare, () => _collections, () =>
        {
            _forced++;
            _collections++;
            _spare = inUse;
        });
        int Looks(int looks)
        {
            int before = _forced;
            for (int i = 0; i < looks; i++) Look(garbage, i % 2 == 0 ? Busy : -Busy);
            return _forced - before;
        }

        Assert.That(Looks(10), Is.Zero);
        _spare = IdleGarbage.MuchBytes / 2;
        Assert.That(Looks(100), Is.Zero, "it is not much");
        _spare = IdleGarbage.MuchBytes * 8;
        Assert.That((Looks(2), Looks(2)), Is.EqualTo((0, 1)));
        _spare = inUse = IdleGarbage.MuchBytes * 8;
        Assert.That(Looks(20), Is.EqualTo(1), "it is in use, which one collection tells");
        inUse = 0;
        Assert.That(Looks(40), Is.EqualTo(1), "and it is asked again");
        Assert.That((_spare, Looks(100)), Is.EqualTo((0, 0)));
    }

    private void Look(IdleGarbage garbage, long more)
    {
        _heap += more;
        garbage.Look();
    }
}
