using System.Diagnostics;
using System.Runtime.InteropServices;
using Garnet.Common.Linux;
using Garnet.Load.Machine;

namespace Garnet.Load.Traffic;

/// <summary>
/// The load itself: one thread, one epoll set, one batch in flight per connection. Sends and receives never block
/// (MSG_DONTWAIT); what a socket does not take is kept and sent when it has room.
/// Closed loop: the next batch leaves when the last reply of the one before is in. Open loop: batch n starts at
/// n * pipeline / rate on connection n mod c, and its latency counts from that moment even if the connection was busy then.
/// </summary>
internal sealed unsafe class Generator : IDisposable
{
    private const int ReceiveBytes = 256 * 1024;
    private const double DrainSeconds = 2;

    private readonly Workload _workload;
    private readonly GeneratorSettings _settings;
    private readonly Poller _poller = new();
    private readonly List<Connection> _connections = [];
    private readonly Latencies _latency = new();
    private readonly ReplyTally _tally = new();
    private readonly byte* _received = (byte*)NativeMemory.AlignedAlloc(ReceiveBytes, 4096);
    private readonly double _ticksPerBatch;
    private long _started, _scheduled, _scheduleOrigin;

    public Generator(Workload workload, GeneratorSettings settings)
    {
        _workload = workload;
        _settings = settings;
        _ticksPerBatch = settings.Rate > 0 ? Stopwatch.Frequency * workload.Pipeline / settings.Rate : 0;
        byte[] opening = settings.Opening.Length > 0 ? Probe.Request(settings.Opening) : [];
        for (int i = 0; i < settings.Connections; i++)
        {
            Connection connection = new(Dial.Open(settings.Server, opening), new ReplyScan(_tally, workload.ValueBytes));
            _connections.Add(connection);
            _poller.Add(connection.Descriptor, i);
        }
    }

    private bool IsOpenLoop => _ticksPerBatch > 0;

    /// <summary>Warms up, measures and reports. Can be called again on the same connections.</summary>
    public Measured Run()
    {
        Begin();
        Loop(After(_settings.WarmupSeconds));
        Reset();
        long serverNs = ServerClock.ReadNs(_settings.ServerPid), ownNs = ServerClock.ReadOwnThreadNs();
        double machineSeconds = ServerClock.ReadMachineSeconds();
        long from = Stopwatch.GetTimestamp();
        Loop(After(_settings.BatchesMax > 0 ? 3600 : _settings.Seconds));
        long until = Stopwatch.GetTimestamp();
        serverNs = ServerClock.ReadNs(_settings.ServerPid) - serverNs;
        ownNs = ServerClock.ReadOwnThreadNs() - ownNs;
        machineSeconds = ServerClock.ReadMachineSeconds() - machineSeconds;
        return Report(until - from, until, new Shares(serverNs, ownNs, machineSeconds));
    }

    /// <summary>Waits for replies that are still owed, so that the connections are quiet afterwards.</summary>
    public void Drain()
    {
        long deadline = After(DrainSeconds);
        _started = long.MaxValue;
        while (_connections.Exists(c => c.Owed > 0) && Stopwatch.GetTimestamp() < deadline) Turn(10, sending: false);
    }

    public void Dispose()
    {
        foreach (Connection connection in _connections) _ = Libc.close(connection.Descriptor);
        _poller.Dispose();
        NativeMemory.AlignedFree(_received);
    }

    private static long After(double seconds) => Stopwatch.GetTimestamp() + (long)(seconds * Stopwatch.Frequency);

    private void Begin()
    {
        _started = 0;
        _scheduled = 0;
        _scheduleOrigin = Stopwatch.GetTimestamp();
        if (IsOpenLoop) return;
        foreach (Connection connection in _connections)
            if (connection.Owed == 0 && MayStart()) Send(connection, Stopwatch.GetTimestamp());
    }

    private bool MayStart() => _settings.BatchesMax == 0 || _started < _settings.BatchesMax;

    private void Reset()
    {
        _latency.Clear();
        _tally.Clear();
        foreach (Connection connection in _connections) connection.Ops = 0;
    }

    private void Loop(long deadline)
    {
        while (Stopwatch.GetTimestamp() < deadline)
        {
            if (IsOpenLoop) StartDue();
            Turn(IsOpenLoop ? _settings.SleepMs : 10, sending: true);
            if (!MayStart() && !_connections.Exists(c => c.Owed > 0)) return;
        }
    }

    private void StartDue()
    {
        long now = Stopwatch.GetTimestamp();
        for (long due = Due(); due <= now && MayStart(); due = Due())
        {
            Connection connection = _connections[(int)(_scheduled++ % _connections.Count)];
            if (connection.Owed == 0) Send(connection, due);
            else connection.Late.Enqueue(due);
        }
    }

    private long Due() => _scheduleOrigin + (long)(_scheduled * _ticksPerBatch);

    private void Turn(int timeoutMs, bool sending)
    {
        int count = _poller.Wait(timeoutMs);
        for (int i = 0; i < count; i++)
        {
            int number = _poller.Number(i);
            Connection connection = _connections[number];
            if (_poller.CanWrite(i)) SendRest(connection, number);
            if (_poller.CanRead(i)) Receive(connection, sending);
        }
    }

    private void Send(Connection connection, long startedAt)
    {
        ReadOnlySpan<byte> requests = _workload.Next(out ReadOnlySpan<byte> wanted);
        connection.StartedAt = startedAt;
        connection.Owed = _workload.Pipeline;
        _started++;
        if (_workload.Check) Want(connection, wanted);
        fixed (byte* bytes = requests)
        {
            nint sent = Math.Max(0, Libc.send(connection.Descriptor, bytes, requests.Length, Libc.MSG_NOSIGNAL | Libc.MSG_DONTWAIT));
            if (sent < requests.Length) Keep(connection, requests[(int)sent..]);
        }
    }

    private void Keep(Connection connection, ReadOnlySpan<byte> rest)
    {
        if (connection.Unsent.Length < rest.Length) connection.Unsent = new byte[rest.Length];
        rest.CopyTo(connection.Unsent);
        connection.UnsentAt = 0;
        connection.UnsentEnd = rest.Length;
        _poller.WatchWrites(connection.Descriptor, _connections.IndexOf(connection), on: true);
    }

    private void SendRest(Connection connection, int number)
    {
        fixed (byte* bytes = connection.Unsent)
        {
            int left = connection.UnsentEnd - connection.UnsentAt;
            connection.UnsentAt += (int)Math.Max(0, Libc.send(connection.Descriptor, bytes + connection.UnsentAt, left, Libc.MSG_NOSIGNAL | Libc.MSG_DONTWAIT));
        }
        if (connection.UnsentAt == connection.UnsentEnd) _poller.WatchWrites(connection.Descriptor, number, on: false);
    }

    private void Receive(Connection connection, bool sending)
    {
        nint bytes = Libc.recv(connection.Descriptor, _received, ReceiveBytes, Libc.MSG_DONTWAIT);
        if (bytes < 0 && Libc.Errno is Libc.EAGAIN or Libc.EINTR) return;
        if (bytes <= 0) throw new IOException("the server closed a connection");
        if (_workload.Check) Compare(connection, new ReadOnlySpan<byte>(_received, (int)bytes));
        int replies = connection.Scan.Feed(_received, (int)bytes);
        connection.Owed -= replies;
        connection.Ops += replies;
        if (connection.Owed > 0) return;
        if (connection.Owed < 0) throw new InvalidDataException("more replies than requests");
        Finish(connection);
        if (sending) Continue(connection);
    }

    private void Finish(Connection connection)
    {
        long nanoseconds = (long)((Stopwatch.GetTimestamp() - connection.StartedAt) * (1e9 / Stopwatch.Frequency));
        _latency.Add(nanoseconds);
        if (_workload.Check && (connection.Differs || connection.WantedAt != connection.WantedBytes)) _tally.Wrong++;
    }

    private void Continue(Connection connection)
    {
        if (!MayStart()) return;
        if (!IsOpenLoop) Send(connection, Stopwatch.GetTimestamp());
        else if (connection.Late.TryDequeue(out long due)) Send(connection, due);
    }

    private static void Want(Connection connection, ReadOnlySpan<byte> wanted)
    {
        if (connection.Wanted.Length < wanted.Length) connection.Wanted = new byte[wanted.Length];
        wanted.CopyTo(connection.Wanted);
        connection.WantedBytes = wanted.Length;
        connection.WantedAt = 0;
        connection.Differs = false;
    }

    private static void Compare(Connection connection, ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<byte> wanted = connection.Wanted.AsSpan(connection.WantedAt, Math.Min(bytes.Length, connection.WantedBytes - connection.WantedAt));
        connection.Differs |= !bytes.SequenceEqual(wanted);
        connection.WantedAt += wanted.Length;
    }

    private Measured Report(long ticks, long until, Shares shares)
    {
        double seconds = ticks / (double)Stopwatch.Frequency;
        long replies = 0, slowest = long.MaxValue;
        foreach (Connection connection in _connections)
        {
            replies += connection.Ops;
            slowest = Math.Min(slowest, connection.Ops);
            if (connection.Owed > 0) _latency.Add((long)((until - connection.StartedAt) * (1e9 / Stopwatch.Frequency)));   // unanswered: counts with its age
        }
        return new Measured
        {
            Seconds = seconds,
            Replies = replies,
            OpsPerSecond = replies / seconds,
            ServerNs = replies == 0 ? 0 : shares.ServerNs / (double)replies,
            GeneratorShare = shares.OwnNs / 1e9 / seconds,
            ForeignCores = Math.Max(0, (shares.MachineSeconds - (shares.ServerNs + shares.OwnNs) / 1e9) / seconds),
            P50 = _latency.At(0.5),
            P99 = _latency.At(0.99),
            P999 = _latency.At(0.999),
            P9999 = _latency.At(0.9999),
            Max = _latency.Max,
            Fairness = replies == 0 ? 0 : slowest * (double)_connections.Count / replies,
            Errors = _tally.Errors,
            Nils = _tally.Nils,
            Wrong = _tally.Wrong,
            FirstError = _tally.FirstError,
        };
    }

    private readonly record struct Shares(long ServerNs, long OwnNs, double MachineSeconds);
}
