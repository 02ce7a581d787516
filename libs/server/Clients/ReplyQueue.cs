using Garnet.Common.Bytes;
using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>
/// What a connection is to be sent and its socket has not taken: bytes in memory of its own, and among them at most one long value where it lies in the
/// store, pinned (store.P1). Whoever has it frees it.
/// </summary>
internal unsafe struct ReplyQueue
{
    private ByteQueue _before; // all of it, where there is no value
    private PinnedValue _value;
    private int _sent; // of the value
    private ByteQueue _behind;

    /// <summary>Bytes waiting.</summary>
    internal readonly long Count => (long)_before.Count + (_value.Length - _sent) + _behind.Count;

    /// <summary>Memory that it holds, in bytes: of the value too, once nobody else has it.</summary>
    internal readonly long Capacity => (long)_before.Capacity + (_value.IsLeft ? _value.Length : 0) + _behind.Capacity;

    /// <summary>True if a value is among it: it takes no second one.</summary>
    internal readonly bool HasValue => _value.Exists;

    /// <summary>The bytes that are next to be sent, as far as they lie together.</summary>
    internal readonly byte* Front(out int count)
    {
        count = _before.Count;
        if (count > 0)
            return _before.Head;
        count = _value.Length - _sent;
        if (count > 0)
            return _value.Bytes + _sent;
        count = _behind.Count;
        return _behind.Head;
    }

    /// <summary>Drops bytes of the front.</summary>
    internal void Drop(int count)
    {
        if (_before.Count > 0)
        {
            _before.Drop(count);
        }
        else if (_value.Exists)
        {
            _sent += count;
            if (_sent == _value.Length)
                EndValue();
        }
        else
        {
            _behind.Drop(count);
        }
    }

    /// <summary>Adds bytes at the back.</summary>
    internal void Append(byte* bytes, int count)
    {
        if (_value.Exists)
            _behind.Append(bytes, count);
        else
            _before.Append(bytes, count);
    }

    /// <summary>Takes over a block of the allocator of so many bytes, of which those between the two places wait; it is empty before.</summary>
    internal void Adopt(byte* block, int bytes, int head, int tail) => _before.Adopt(block, bytes, head, tail);

    /// <summary>Adds what is left of a value, some of which was sent, and lets go of it once that is sent too.</summary>
    internal void Append(PinnedValue value, int sent)
    {
        (_value, _sent) = (value, sent);
        if (sent == value.Length)
            EndValue();
    }

    /// <summary>Gives everything back.</summary>
    internal void Free()
    {
        _before.Free();
        _behind.Free();
        EndValue();
    }

    // What stood behind it is all there is.
    private void EndValue()
    {
        _value.Release();
        (_value, _sent) = (default, 0);
        if (_before.Count > 0)
            return;
        _before.Free();
        _before = _behind;
        _behind = default;
    }
}
