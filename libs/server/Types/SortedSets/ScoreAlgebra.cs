using System.Runtime.InteropServices;
using Garnet.Server.Net;
using Garnet.Server.Types.Collections;
using Garnet.Server.Types.Sets;
using Tsavorite;

namespace Garnet.Server.Types.SortedSets;

/// <summary>How the scores of one member in several sets become one.</summary>
internal enum ScoreAggregate : byte
{
    Sum,
    Min,
    Max,
    /// <summary>In how many sets the member is, whatever its scores: the sum of their weights.</summary>
    Count,
}

/// <summary>
/// Unions, intersections and differences of sorted sets, and of sets, whose members count as scored 1. All partitions are locked
/// meanwhile. The result is gathered member by member, as the set of the smallest index that has it shows it.
/// </summary>
internal unsafe ref struct ScoreAlgebra
{
    private readonly StoreSession _store;
    private readonly ReadOnlySpan<KeyRef> _keys;

    internal ScoreAlgebra(StoreSession store, ReadOnlySpan<KeyRef> keys)
    {
        _store = store;
        _keys = keys;
    }

    internal SetOperation Operation;
    internal ScoreAggregate Aggregate;
    /// <summary>A factor per key, empty for none.</summary>
    internal ReadOnlySpan<double> Weights;
    /// <summary>Most members looked for, 0 = all.</summary>
    internal long Limit;
    /// <summary>The members found: 8 bytes of score and the member, as operands; the caller frees them.</summary>
    internal ByteQueue Found;

    internal long Count { get; private set; }

    /// <summary>False if a key holds neither a sorted set nor a set.</summary>
    internal bool TryRun()
    {
        int smallest = 0;
        long least = long.MaxValue;
        bool anyMissing = false;
        for (int i = 0; i < _keys.Length; i++)
        {
            var look = default(CountLook);
            bool exists = _store.Examine(in _keys[i], ref look) == Outcome.Done;
            if (exists && look.Kind is not (RecordKind.SortedSet or RecordKind.Set))
                return false;
            anyMissing |= !exists;
            if (look.Count >= least)
                continue;
            least = look.Count;
            smallest = i;
        }

        if (Operation == SetOperation.Intersection && anyMissing)
            return true;
        int first = Operation == SetOperation.Intersection ? smallest : 0, last = Operation == SetOperation.Union ? _keys.Length - 1 : first;
        fixed (KeyRef* keys = _keys)
        fixed (double* weights = Weights)
        {
            for (int i = first; i <= last; i++)
            {
                var walk = new Walk { Store = _store, Keys = keys, KeyCount = _keys.Length, Own = i, Operation = Operation, Aggregate = Aggregate, Weights = weights, Left = Limit, Found = Found };
                _store.Examine(in _keys[i], ref walk, quiet: true);
                Found = walk.Found;
                Count += walk.Count;
            }
        }

        return true;
    }

    /// <summary>A member's score in one of the keys.</summary>
    private struct ScoreOf(byte* member, int bytes) : IExamine
    {
        internal bool Found;
        internal double Score;

        public void Look(ref RecordEdit record)
        {
            EntryForm form = record.Kind == RecordKind.Set ? EntryForm.Member : EntryForm.Scored;
            Found = Members.Find(ref record, form, member, bytes, out Entry entry) && !entry.IsDue(record.NowMs);
            Score = !Found ? 0 : form == EntryForm.Member ? 1 : entry.Score;
        }
    }

    private struct Walk : IExamine
    {
        internal StoreSession Store;
        internal KeyRef* Keys;
        internal int KeyCount;
        internal int Own;
        internal SetOperation Operation;
        internal ScoreAggregate Aggregate;
        internal double* Weights;
        internal long Left;
        internal ByteQueue Found;
        internal long Count;

        public void Look(ref RecordEdit record)
        {
            EntryForm form = record.Kind == RecordKind.Set ? EntryForm.Member : EntryForm.Scored;
            for (var walk = default(MemberWalk); walk.Next(ref record, form);)
            {
                Entry entry = walk.Current;
                double own = form == EntryForm.Member ? 1 : entry.Score;
                if (entry.IsDue(record.NowMs) || !TryScore(entry, own, out double score))
                    continue;
                Count++;
                byte* bytes = (byte*)&score;
                OperandText.Append(ref Found, new ReadOnlySpan<byte>(bytes, sizeof(double)), entry.KeySpan);
                if (--Left == 0)
                    return;
            }
        }

        // The scores are put together in the order of the keys, as the sum of floating point numbers depends on it.
        private readonly bool TryScore(in Entry entry, double own, out double score)
        {
            score = 0;
            bool any = false;
            for (int i = 0; i < KeyCount; i++)
            {
                var there = new ScoreOf(entry.Key, entry.KeyBytes) { Found = true, Score = own };
                if (i != Own)
                {
                    there.Found = false;
                    Store.Examine(in Keys[i], ref there, quiet: true);
                }

                if (i != Own && there.Found != (Operation == SetOperation.Intersection) && !(Operation == SetOperation.Union && (i > Own || !there.Found)))
                    return false;
                if (!there.Found || (Operation == SetOperation.Difference && i != Own))
                    continue;
                double weighted = Weighted(there.Score, i);
                score = any ? Combine(score, weighted) : weighted;
                any = true;
            }

            return true;
        }

        private readonly double Weighted(double score, int key)
        {
            if (Aggregate == ScoreAggregate.Count)
                score = 1;
            if (Weights == null)
                return score;
            double weighted = score * Weights[key];
            return double.IsNaN(weighted) ? 0 : weighted; // infinity times zero, as Redis has it
        }

        private readonly double Combine(double left, double right)
        {
            if (Aggregate == ScoreAggregate.Min)
                return Math.Min(left, right);
            if (Aggregate == ScoreAggregate.Max)
                return Math.Max(left, right);
            double sum = left + right;
            return double.IsNaN(sum) ? 0 : sum; // inf and -inf, as Redis has it
        }
    }
}

/// <summary>The members that a <see cref="ScoreAlgebra"/> found, brought into the order of a sorted set.</summary>
internal sealed unsafe class ScoreList
{
    private readonly List<(double Score, nint Member, int Bytes)> _members = [];

    internal ScoreList(in Operands found)
    {
        for (Operands.Reader reader = found.Read(); reader.Next();)
            _members.Add((MemoryMarshal.Read<double>(reader.Span), (nint)reader.Bytes + sizeof(double), reader.Length - sizeof(double)));
    }

    internal int Count => _members.Count;

    internal double ScoreAt(int index) => _members[index].Score;

    internal ReadOnlySpan<byte> MemberAt(int index) => new((byte*)_members[index].Member, _members[index].Bytes);

    internal void Sort() => _members.Sort(static (left, right) =>
    {
        int order = left.Score.CompareTo(right.Score);
        return order != 0 ? order : new ReadOnlySpan<byte>((byte*)left.Member, left.Bytes).SequenceCompareTo(new ReadOnlySpan<byte>((byte*)right.Member, right.Bytes));
    });
}
