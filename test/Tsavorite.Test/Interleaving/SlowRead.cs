using System.Text;

namespace Tsavorite.Test.Interleaving;

/// <summary>Copies a value in two halves with a yield between, so that a writer can get in; of a long one its beginning and its end.</summary>
internal unsafe struct SlowRead : IRead
{
    private const int BytesMax = 512;
    private fixed byte _copy[BytesMax];
    private int _length, _all;
    private long _expireAtMs;

    public void Look(in RecordView record)
    {
        _all = record.ValueBytes;
        _length = Math.Min(_all, BytesMax);
        _expireAtMs = record.ExpireAtMs;
        int half = _length / 2;
        fixed (byte* copy = _copy)
        {
            new ReadOnlySpan<byte>(record.Value, half).CopyTo(new Span<byte>(copy, half));
            StoreTestHooks.Yield(YieldPoint.Value);
            new ReadOnlySpan<byte>(record.Value + _all - (_length - half), _length - half).CopyTo(new Span<byte>(copy + half, _length - half));
        }
    }

    /// <summary>The value with runs of one letter shortened.</summary>
    public readonly string Text
    {
        get
        {
            StringBuilder text = new();
            for (int i = 0, run; i < _length; i += run)
            {
                for (run = 1; i + run < _length && _copy[i + run] == _copy[i]; run++) { }
                text.Append((char)_copy[i]).Append(run);
            }
            if (_all > BytesMax)
                text.Append(" of ").Append(_all);
            return _expireAtMs == 0 ? text.ToString() : $"{text}@{_expireAtMs}";
        }
    }
}
