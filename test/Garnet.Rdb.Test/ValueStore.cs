using Garnet.Common.Resp;
using Garnet.Types;
using Tsavorite;

namespace Garnet.Rdb.Test;

/// <summary>A store with one key, to which payloads go and from which they come back.</summary>
internal sealed unsafe class ValueStore : IDisposable
{
    private readonly StoreSession _session;
    private readonly byte[] _name = GC.AllocateArray<byte>(1 + RespLimits.ReadableSlack, pinned: true);

    public ValueStore()
    {
        _name[0] = (byte)'k';
        _session = Store.OpenSession();
        _session.NowMs = 1_700_000_000_000;
    }

    public Store Store { get; } = new(new StoreSettings { BackgroundMovers = false });

    public StoreSession Session => _session;

    /// <summary>False if the payload is refused; else its value is what the key holds.</summary>
    public bool TryPut(byte[] payload)
    {
        if (!RdbPayload.TryOpen(payload, out int bytes))
            return false;
        using var value = new RdbValue();
        fixed (byte* start = payload)
        {
            var from = new RdbCursor(start, start + bytes);
            bool sound = from.TryByte(out byte type) && RdbDecoder.TryRead(ref from, (RdbType)type, value) && from.Left == 0;
            if (sound)
                Put(value);
            from.Free();
            return sound;
        }
    }

    /// <summary>What the key holds, as a payload; null if there is no key.</summary>
    public byte[]? Dump()
    {
        var encoder = default(RdbEncoder);
        KeyRef key = Key;
        if (_session.Examine(in key, ref encoder) != Outcome.Done || encoder.IsEmpty)
            return null;
        Assert.That(encoder.Failed, Is.False, "a value of a type that Redis has can be written");
        RdbPayload.Close(ref encoder.To, encoder.Version);
        byte[] payload = new ReadOnlySpan<byte>(encoder.To.Bytes.Head, encoder.To.Bytes.Count).ToArray();
        encoder.To.Bytes.Free();
        return payload;
    }

    public void Dispose()
    {
        _session.Dispose();
        Store.Dispose();
    }

    private KeyRef Key
    {
        get
        {
            fixed (byte* name = _name)
                return Store.Key(name, 1, Store.Namespaces.Id(0)); // pinned for good
        }
    }

    private void Put(RdbValue value)
    {
        KeyRef key = Key;
        _session.Lock([key]);
        Outcome outcome = RdbStoring.Put(_session, in key, value, expireAtMs: 0, new EncodingSettings());
        _session.Unlock();
        Assert.That(outcome, Is.EqualTo(Outcome.Done));
    }
}
