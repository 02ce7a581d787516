using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>
/// Replies random entries: one; so many different ones; or, for a negative number, so many with repeats. For HRANDFIELD,
/// SRANDMEMBER and ZRANDMEMBER.
/// </summary>
internal unsafe struct RandomChoice : IExamine
{
    /// <summary>Most entries asked for with repeats: the reply would be of gigabytes.</summary>
    private const long RepeatsMax = 16 << 20;
    private const int FewMax = 32; // which are looked at one by one, whether one was taken before
    private const int DrawnMax = 4096; // and these by their hash: of more a walk over all has as many

    private RespWriter _to;
    private long _wanted;
    private bool _withValues;
    private RandomBits _random;

    private EntryForm _form;
    private RecordKind _kind;
    private bool _wrongKind, _tooMany;
    private bool _single; // no number was given: the reply is one entry

    /// <summary>Replies random entries of the collection under the call's key, as <c>key [count [option]]</c> asks.</summary>
    internal static Reply Run(ref Call call, ReadOnlySpan<byte> option, EntryForm form, RecordKind kind)
    {
        if (!TryParse(ref call, option, out RandomChoice choice, out Reply failed))
            return failed;
        choice._form = form;
        choice._kind = kind;
        Outcome outcome = CollectionCalls.Examine(ref call, ref choice);
        if (choice._tooMany)
            return call.Fail(Fault.ValueOutOfRange);
        if (outcome != Outcome.NotFound)
            return CollectionCalls.Done(ref call, choice._wrongKind);
        if (choice._single)
            return call.Null();
        call.Out.Array(0);
        return Reply.Sent;
    }

    // On false the error has been written.
    private static bool TryParse(ref Call call, ReadOnlySpan<byte> option, out RandomChoice choice, out Reply failed)
    {
        choice = new RandomChoice { _to = call.Out, _single = call.Count == 2, _wanted = 1, _random = call.Worker.Draws.Next(call.Client) };
        failed = Reply.Sent;
        if (choice._single)
            return true;
        if (!call.TryInt64(2, out choice._wanted))
            failed = call.Fail(Fault.NotAnInteger);
        else if (choice._wanted == long.MinValue)
            failed = call.Fail(Fault.NotNegatable);
        else if (call.Count > 4 || (call.Count == 4 && (option.IsEmpty || !call.Is(3, option))))
            failed = call.Fail(Fault.Syntax);
        else if (call.Count == 4 && choice._wanted is < -long.MaxValue / 2 or > long.MaxValue / 2)
            failed = call.Fail(Fault.ValueOutOfRange);
        choice._withValues = call.Count == 4;
        return failed == Reply.Sent;
    }

    public void Look(ref RecordEdit record)
    {
        _wrongKind = record.Kind != _kind;
        _tooMany = !_wrongKind && _wanted < -RepeatsMax;
        if (_wrongKind | _tooMany)
            return;
        long live = Members.CountLive(ref record, _form);
        if (_single)
            ReplySingle(ref record, live);
        else if (_wanted < 0)
            ReplyRepeats(ref record, live);
        else
            ReplyDifferent(ref record, live);
    }

    private void ReplySingle(ref RecordEdit record, long live)
    {
        if (live == 0)
            _to.Null();
        else
            _to.Bulk(Draw(ref record, live).KeySpan);
    }

    private void ReplyRepeats(ref RecordEdit record, long live)
    {
        Members.LookAtRandom(ref record, _random, live == 0 ? 0 : -_wanted);
        Begin(live == 0 ? 0 : -_wanted);
        for (long i = live == 0 ? 0 : -_wanted; i > 0; i--)
            Show(Draw(ref record, live));
    }

    private void ReplyDifferent(ref RecordEdit record, long live)
    {
        long wanted = Math.Min(_wanted, live);
        Begin(wanted);
        if (wanted <= DrawnMax && wanted * 4 < live && !Root.Has(record.Value, RootFlags.Integers))
        {
            ReplyDrawn(ref record, live, (int)wanted);
            return;
        }

        // One pass: each entry is taken with the chance that leaves the right number.
        var walk = default(MemberWalk);
        while (wanted > 0 && walk.Next(ref record, _form))
        {
            if (walk.Current.IsDue(record.NowMs))
                continue;
            if (_random.Below((ulong)live--) >= (ulong)wanted)
                continue;
            Show(walk.Current);
            wanted--;
        }
    }

    private void ReplyDrawn(ref RecordEdit record, long live, int wanted)
    {
        Members.LookAtRandom(ref record, _random, wanted);
        Span<nint> few = stackalloc nint[FewMax];
        HashSet<nint>? many = wanted > FewMax ? new(wanted) : null;
        for (int count = 0; count < wanted;)
        {
            Entry entry = Draw(ref record, live);
            if (!(many?.Add((nint)entry.Start) ?? !few[..count].Contains((nint)entry.Start)))
                continue;
            if (many is null)
                few[count] = (nint)entry.Start;
            count++;
            Show(entry);
        }
    }

    // An entry whose time has not come; there is one.
    private Entry Draw(ref RecordEdit record, long live)
    {
        const int TriesMax = 100;
        for (int tries = 0; tries < TriesMax; tries++)
        {
            Entry entry = Members.Random(ref record, _form, ref _random);
            if (!entry.IsDue(record.NowMs))
                return entry;
        }

        var walk = default(MemberWalk);
        ulong skip = _random.Below((ulong)live);
        while (walk.Next(ref record, _form) && (walk.Current.IsDue(record.NowMs) || skip-- > 0))
        {
        }

        return walk.Current;
    }

    private readonly void Begin(long count) => _to.Array((int)(_withValues && !_to.Resp3 ? count * 2 : count));

    private readonly void Show(in Entry entry)
    {
        if (_withValues && _to.Resp3)
            _to.Array(2);
        _to.Bulk(entry.KeySpan);
        if (!_withValues)
            return;
        if (_form == EntryForm.Scored)
            _to.Double(entry.Score);
        else
            _to.Bulk(entry.ValueSpan);
    }
}
