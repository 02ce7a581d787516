using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Keys;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>One call of HSCAN, SSCAN or ZSCAN: all of a packed collection, some chunks of a large one. See <see cref="MemberWalk"/>.</summary>
internal unsafe struct ScanPage : IExamine
{
    private const long CountMax = 10_000; // more would hold the lock too long: COUNT is a hint

    private RespWriter _to;
    private RecordKind _kind;
    private EntryForm _form;
    private ulong _cursor;
    private long _count;
    private Glob? _pattern;
    private bool _withoutValues;
    private bool _badOptions;
    private Fault _fault;
    private bool _wrongKind;

    internal static Reply Run(ref Call call, RecordKind kind, EntryForm form, ReadOnlySpan<byte> withoutValues)
    {
        if (!Scan.TryCursor(call[2], out ulong cursor))
            return call.Fail(Fault.InvalidCursor);
        var page = new ScanPage { _to = call.Out, _kind = kind, _form = form, _cursor = cursor, _count = 10 };
        page.Parse(ref call, withoutValues);
        if (CollectionCalls.Examine(ref call, ref page) == Outcome.NotFound)
        {
            call.Out.Array(2);
            call.Out.Bulk("0"u8);
            call.Out.Array(0);
            return Reply.Sent;
        }

        if (page._wrongKind)
            return call.Fail(Fault.WrongType);
        return page._badOptions ? call.Fail(page._fault) : Reply.Sent;
    }

    public void Look(ref RecordEdit record)
    {
        _wrongKind = record.Kind != _kind;
        if (_wrongKind || _badOptions)
            return;
        Foresee(ref record);
        ulong next = 0;
        long entries = Show(ref record, ref next, write: false);
        _to.Array(2);
        _to.BulkInt((long)next);
        _to.Array((int)(_form == EntryForm.Member || _withoutValues ? entries : entries * 2));
        Show(ref record, ref next, write: true);
    }

    // What the page comes to on a tier is read side by side: chunks have about as many entries each.
    private readonly void Foresee(ref RecordEdit record)
    {
        if (!record.MayLack || !Root.IsChunked(record.Value) || _cursor >> 32 != 0)
            return;
        record.BeginForesight();
        long perChunk = Math.Max(Root.ChunkedCount(record.Value) / Root.Chunks(record.Value), 1);
        ulong next = _cursor;
        bool goesOn = true;
        for (long left = (_count / perChunk) + 1; left > 0 && goesOn; left--)
            goesOn = record.TryForesee(MemberWalk.ChunkAt(ref record, next, out next)) && next != 0;
    }

    // Counts or writes the page; twice the same, since nothing changes meanwhile.
    private readonly long Show(ref RecordEdit record, ref ulong next, bool write)
    {
        long shown = 0;
        if (!Root.IsChunked(record.Value))
        {
            var walk = default(MemberWalk);
            while (walk.Next(ref record, _form))
                shown += Offer(ref record, walk.Current, write);
            return shown;
        }

        next = _cursor;
        long seen = 0;
        do
        {
            if (next >> 32 != 0)
            {
                next = 0; // no cursor of ours
                return shown;
            }

            Page page = ChunkedMembers.Open(ref record, MemberWalk.ChunkAt(ref record, next, out next));
            for (int slot = 0; slot < page.Count; slot++)
                shown += Offer(ref record, page.EntryAt(_form, slot), write);
            seen += page.Count;
        }
        while (next != 0 && seen < _count);
        return shown;
    }

    private readonly int Offer(ref RecordEdit record, in Entry entry, bool write)
    {
        if (entry.IsDue(record.NowMs) || _pattern?.Matches(entry.KeySpan) == false)
            return 0;
        if (!write)
            return 1;
        _to.Bulk(entry.KeySpan);
        if (_form == EntryForm.Pair && !_withoutValues)
            _to.Bulk(entry.ValueSpan);
        else if (_form == EntryForm.Scored && !_withoutValues)
            ScoreText.Bulk(_to, entry.Score);
        return 1;
    }

    private void Parse(ref Call call, ReadOnlySpan<byte> withoutValues)
    {
        for (int i = 3; i < call.Count && !_badOptions; i += 2)
        {
            if (!withoutValues.IsEmpty && call.Is(i, withoutValues))
            {
                _withoutValues = true;
                i--;
            }
            else if (i + 1 < call.Count && call.Is(i, "COUNT"u8))
            {
                _badOptions = !call.TryInt64(i + 1, out _count) || _count < 1;
                _fault = _badOptions && !call.TryInt64(i + 1, out _) ? Fault.NotAnInteger : Fault.Syntax;
                _count = Math.Min(_count, CountMax);
            }
            else if (i + 1 < call.Count && call.Is(i, "MATCH"u8))
            {
                _pattern = KeyCollector.PatternOf(call[i + 1]);
            }
            else
            {
                _badOptions = true;
                _fault = Fault.Syntax;
            }
        }
    }
}
