using System.Diagnostics;
using NUnit.Framework;

namespace Garnet.Wire.BadInput;

/// <summary>
/// What must hold after any bad input, once its connection is gone: another client is answered, a key kept from before is
/// whole, and the process has not grown. Growth is looked at over several tries, since the collector gives back when it likes;
/// what leaks grows every time.
/// </summary>
internal sealed class Aftermath : IDisposable
{
    private const string Marker = "aftermath:marker", Value = "untouched";
    private const long GrowthBytesMax = 1 << 20;
    private const int TriesMax = 5, SettleMs = 5_000; // of a machine that is busy; mostly a look or two

    private readonly ServerProcess _server;
    private readonly string? _password;
    private readonly RespConnection _witness;

    public Aftermath(ServerProcess server, string? password = null)
    {
        _server = server;
        _password = password;
        _witness = Connect();
        _witness.Call("SET", Marker, Value);
    }

    /// <summary>Does the bad thing, at least once, and judges what is left of it.</summary>
    public void Of(Action bad)
    {
        long growth = long.MaxValue;
        for (int i = 0; i < TriesMax && growth > GrowthBytesMax; i++)
        {
            long before = Settled();
            bad();
            Assert.That(_server.IsAlive, "the server ended");
            using (RespConnection fresh = Connect()) Assert.That(fresh.Call("PING").ToString(), Is.EqualTo("+PONG"));
            Assert.That(_witness.Call("GET", Marker).Text, Is.EqualTo(Value));
            growth = Settled(before + GrowthBytesMax) - before;
        }
        if (_server.Pid != 0) Assert.That(growth, Is.LessThanOrEqualTo(GrowthBytesMax), "bytes the process grew by");
    }

    public void Dispose() => _witness.Dispose();

    public RespConnection Connect()
    {
        RespConnection connection = new(_server.Address);
        if (_password is not null) Assert.That(connection.Call("AUTH", _password).ToString(), Is.EqualTo("+OK"));
        return connection;
    }

    private long Settled(long wanted = 0)
    {
        if (_server.Pid == 0) return 0;
        long from = Stopwatch.GetTimestamp(), bytes;
        do
        {
            _witness.Call("MEMORY", "PURGE");
            bytes = _server.ResidentBytes();
        }
        while (bytes > wanted && wanted > 0 && Stopwatch.GetElapsedTime(from).TotalMilliseconds < SettleMs);
        return bytes;
    }
}
