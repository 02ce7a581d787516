using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Unions, intersections and differences of sets and of sorted sets; a set among sorted sets counts as one whose scores are all 1. The caller
/// holds the locks of all keys until it is done: the keys are seen as they were at one moment, and pointers to members stay valid. A union
/// reads every key and gathers the members in a <see cref="MemberTable"/>; an intersection or a difference reads one key, and looks its
/// members up in each of the others, some hundreds at a time.
/// </summary>
public unsafe ref struct MemberAlgebra(StoreSession store, ReadOnlySpan<KeyRef> keys, SetOperation operation) : IDisposable
{
    private readonly ReadOnlySpan<KeyRef> _keys = keys;
    private ByteQueue _found;

    /// <summary>
    /// How the scores of a member are combined; every member found has its score in the 8 bytes before it. Null: members without scores, and
    /// a key that holds a sorted set is of the wrong kind.
    /// </summary>
    public ScoreRule? Scores;
    /// <summary>Most members looked for, 0 = all.</summary>
    public long Limit;
    /// <summary>Only the number of members is wanted.</summary>
    public bool OnlyCounts;

    /// <summary>Number of members found.</summary>
    public long Count { get; private set; }

    /// <summary>The members found, until this is disposed of.</summary>
    public readonly Operands Found() => OperandText.Read(_found);

    /// <summary>False if a key holds something else.</summary>
    public bool TryRun()
    {
        int smallest = 0;
        long least = long.MaxValue;
        bool anyMissing = false;
        for (int i = 0; i < _keys.Length; i++)
        {
            var look = default(CountLook);
            bool exists = store.Examine(in _keys[i], ref look) == Outcome.Done;
            if (exists && look.Kind != RecordKind.Set && (Scores is null || look.Kind != RecordKind.SortedSet))
                return false;
            anyMissing |= !exists;
            if (look.Count >= least)
                continue;
            least = look.Count;
            smallest = i;
        }

        if (operation == SetOperation.Union)
            Gather();
        else if (operation == SetOperation.Difference || !anyMissing)
            Sift(operation == SetOperation.Intersection ? smallest : 0);
        return true;
    }

    /// <inheritdoc/>
    public void Dispose() => _found.Free();

    private void Gather()
    {
        // a hash that depends on the store's secret seed, so that nobody can choose members that collide
        var table = new MemberTable(Scores is null ? 0 : sizeof(double), _keys[0].Hash);
        var gathering = new Gathering { Table = table, Rule = Scores ?? default, IsScored = Scores is not null, Limit = Limit };
        try
        {
            for (int i = 0; i < _keys.Length && (Limit == 0 || gathering.Table.Count < Limit); i++)
            {
                gathering.Key = i;
                store.Examine(in _keys[i], ref gathering, quiet: true);
            }

            Count = gathering.Table.Count;
            _found = gathering.Table.Found;
            gathering.Table.Found = default;
        }
        finally
        {
            gathering.Table.Dispose(); // collections.Q1
        }
    }

    private void Sift(int own)
    {
        fixed (KeyRef* others = _keys)
        {
            var sifting = new Sifting
            {
                Store = store,
                Keys = others,
                KeyCount = _keys.Length,
                Own = own,
                Keeps = operation == SetOperation.Intersection,
                Rule = Scores ?? default,
                IsScored = Scores is not null && !OnlyCounts,
                Left = Limit,
                OnlyCounts = OnlyCounts,
            };
            try
            {
                store.Examine(in _keys[own], ref sifting, quiet: true);
            }
            finally
            {
                (_found, Count) = (sifting.Found, sifting.Count); // collections.Q1: also where it is put off for the tier
            }
        }
    }

    private static EntryForm FormOf(ref RecordEdit record) => record.Kind == RecordKind.Set ? EntryForm.Member : EntryForm.Scored;

    private static double ScoreOf(EntryForm form, in Entry entry) => form == EntryForm.Member ? 1 : entry.Score;

    /// <summary>Puts the members of one key in the table.</summary>
    private struct Gathering : IExamine
    {
        public MemberTable Table;
        public ScoreRule Rule;
        public bool IsScored;
        public int Key;
        public long Limit;

        public void Look(ref RecordEdit record)
        {
            EntryForm form = FormOf(ref record);
            for (var walk = default(MemberWalk); (Limit == 0 || Table.Count < Limit) && walk.Next(ref record, form);)
            {
                Entry entry = walk.Current;
                if (entry.IsDue(record.NowMs))
                    continue;
                byte* head = Table.Put(entry.Key, entry.KeyBytes, out bool isNew);
                if (!IsScored)
                    continue;
                double weighted = Rule.Weighted(ScoreOf(form, entry), Key);
                Unsafe.WriteUnaligned(head, isNew ? weighted : Rule.Combine(Unsafe.ReadUnaligned<double>(head), weighted));
            }
        }
    }

    /// <summary>Members of one key on their way through the others.</summary>
    private struct Candidates
    {
        public const int Max = 256, DigitsBytes = 40;
        public int Count;
        public fixed ulong Members[Max];
        public fixed int Lengths[Max];
        public fixed double Own[Max];
        public fixed double Scores[Max];
        public fixed byte Digits[Max * DigitsBytes];
    }

    /// <summary>Goes through one key and keeps the members that are in all others, or in none.</summary>
    private struct Sifting : IExamine
    {
        public StoreSession Store;
        public KeyRef* Keys;
        public int KeyCount;
        public int Own;
        public bool Keeps;
        public bool IsScored;
        public bool OnlyCounts;
        public ScoreRule Rule;
        public long Left;
        public ByteQueue Found;
        public long Count;

        [SkipLocalsInit] // SINTER of three members: the candidates' 17 KB would be cleared each time
        public void Look(ref RecordEdit record)
        {
            EntryForm form = FormOf(ref record);
            // A set of integers: each member is written as text in memory of the walk, where the next one overwrites it.
            bool spelled = Root.Has(record.Value, RootFlags.Integers);
            Candidates some;
            some.Count = 0;
            for (var walk = default(MemberWalk); walk.Next(ref record, form);)
            {
                Entry entry = walk.Current;
                if (entry.IsDue(record.NowMs))
                    continue;
                byte* member = spelled ? some.Digits + (some.Count * Candidates.DigitsBytes) : entry.Key;
                if (spelled)
                    Buffer.MemoryCopy(entry.Key, member, Candidates.DigitsBytes, entry.KeyBytes);
                some.Members[some.Count] = (ulong)member;
                some.Lengths[some.Count] = entry.KeyBytes;
                some.Own[some.Count] = IsScored ? ScoreOf(form, entry) : 0;
                if (++some.Count == Candidates.Max && !Settle(ref some))
                    return;
            }

            Settle(ref some);
        }

        // False once as many are found as are wanted.
        private bool Settle(ref Candidates some)
        {
            fixed (Candidates* candidates = &some)
            {
                for (int key = 0; key < KeyCount && some.Count > 0; key++)
                {
                    if (key != Own)
                    {
                        var sieve = new Sieve
                        {
                            Some = candidates,
                            Key = key,
                            IsFirst = key == 0,
                            Keeps = Keeps,
                            IsScored = IsScored && Keeps,
                            Rule = Rule,
                        };
                        Store.Examine(in Keys[key], ref sieve, quiet: true);
                    }
                    else if (IsScored)
                    {
                        for (int i = 0; i < some.Count; i++)
                            Add(candidates, i, Rule.Weighted(some.Own[i], key), key == 0 || !Keeps, Rule);
                    }
                }
            }

            for (int i = 0; i < some.Count; i++)
            {
                Count++;
                double score = some.Scores[i];
                if (!OnlyCounts)
                    OperandText.Append(ref Found, new ReadOnlySpan<byte>(&score, IsScored ? sizeof(double) : 0),
                        new ReadOnlySpan<byte>((byte*)some.Members[i], some.Lengths[i]));
                if (--Left == 0)
                    return false;
            }

            some.Count = 0;
            return true;
        }
    }

    private static void Add(Candidates* some, int index, double weighted, bool isFirst, in ScoreRule rule)
    {
        some->Scores[index] = isFirst ? weighted : rule.Combine(some->Scores[index], weighted);
    }

    /// <summary>One of the other keys: lets those pass that it holds, or those that it does not.</summary>
    private struct Sieve : IExamine
    {
        public Candidates* Some;
        public int Key;
        public bool IsFirst;
        public bool Keeps;
        public bool IsScored;
        public ScoreRule Rule;

        public readonly void Look(ref RecordEdit record)
        {
            EntryForm form = FormOf(ref record);
            int passed = 0;
            if (MembersAhead.MayLack(ref record))
                LookAhead(ref record);
            for (int i = 0; i < Some->Count; i++)
            {
                bool isIn = Members.Find(ref record, form, (byte*)Some->Members[i], Some->Lengths[i], out Entry entry)
                    && !entry.IsDue(record.NowMs);
                if (isIn != Keeps)
                    continue;
                if (passed < i)
                {
                    Some->Members[passed] = Some->Members[i];
                    Some->Lengths[passed] = Some->Lengths[i];
                    Some->Own[passed] = Some->Own[i];
                    Some->Scores[passed] = Some->Scores[i];
                }
                if (IsScored)
                    Add(Some, passed, Rule.WeightedMore(ScoreOf(form, entry), Key), IsFirst, Rule);
                passed++;
            }

            Some->Count = passed;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private readonly void LookAhead(ref RecordEdit record)
        {
            MembersAhead ahead = new(ref record);
            bool goesOn = true;
            for (int i = 0; goesOn && i < Some->Count; i++)
                goesOn = ahead.TryLook(ref record, (byte*)Some->Members[i], Some->Lengths[i]);
        }
    }
}
