using Garnet.Server.Commands;
using Garnet.Server.Net;
using Garnet.Server.Types.Collections;
using Garnet.Server.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Types.Sets;

/// <summary>What is made of several sets.</summary>
internal enum SetOperation : byte
{
    Intersection,
    Union,
    Difference,
}

/// <summary>
/// Intersections, unions and differences: walks one set (for a union each) and asks the others about each member. All partitions are
/// locked meanwhile, so that it is one moment.
/// </summary>
internal unsafe ref struct SetAlgebra
{
    private readonly StoreSession _store;
    private readonly ReadOnlySpan<KeyRef> _keys;
    private readonly SetOperation _operation;

    internal SetAlgebra(StoreSession store, ReadOnlySpan<KeyRef> keys, SetOperation operation)
    {
        _store = store;
        _keys = keys;
        _operation = operation;
    }

    /// <summary>The members found, as operands; the caller frees them.</summary>
    internal ByteQueue Found;

    /// <summary>Number of them.</summary>
    internal long Count { get; private set; }

    /// <summary>Computes at most so many members (0 = all); false if a key holds something else.</summary>
    internal bool TryRun(long limit, bool keepMembers)
    {
        int smallest = 0;
        long least = long.MaxValue;
        bool anyMissing = false;
        for (int i = 0; i < _keys.Length; i++)
        {
            var look = default(CountLook);
            bool exists = _store.Examine(in _keys[i], ref look) == Outcome.Done;
            if (exists && look.Kind != RecordKind.Set)
                return false;
            anyMissing |= !exists;
            if (look.Count >= least)
                continue;
            least = look.Count;
            smallest = i;
        }

        if (_operation == SetOperation.Intersection && anyMissing)
            return true;
        int first = _operation == SetOperation.Intersection ? smallest : 0, last = _operation == SetOperation.Union ? _keys.Length - 1 : first;
        fixed (KeyRef* keys = _keys)
        {
            for (int i = first; i <= last && (limit == 0 || Count < limit); i++)
            {
                var walk = new Walk { Store = _store, Keys = keys, KeyCount = _keys.Length, Own = i, Operation = _operation, Left = limit == 0 ? 0 : limit - Count, KeepMembers = keepMembers, Found = Found };
                _store.Examine(in _keys[i], ref walk, quiet: true);
                Found = walk.Found;
                Count += walk.Count;
            }
        }

        return true;
    }

    private struct Walk : IExamine
    {
        internal StoreSession Store;
        internal KeyRef* Keys;
        internal int KeyCount;
        internal int Own;
        internal SetOperation Operation;
        internal long Left;
        internal bool KeepMembers;
        internal ByteQueue Found;
        internal long Count;

        public void Look(ref RecordEdit record)
        {
            for (var walk = default(MemberWalk); walk.Next(ref record, EntryForm.Member);)
            {
                Entry entry = walk.Current;
                if (!Belongs(entry))
                    continue;
                Count++;
                if (KeepMembers)
                    OperandText.Append(ref Found, entry.KeySpan);
                if (--Left == 0)
                    return;
            }
        }

        private readonly bool Belongs(in Entry entry)
        {
            int last = Operation == SetOperation.Union ? Own : KeyCount; // of a union the first set that has it shows it
            for (int i = 0; i < last; i++)
            {
                if (i == Own)
                    continue;
                var look = new ContainsLook(entry.Key, entry.KeyBytes);
                Store.Examine(in Keys[i], ref look, quiet: true);
                if (look.Found != (Operation == SetOperation.Intersection))
                    return false;
            }

            return true;
        }
    }
}
