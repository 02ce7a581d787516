using System.Collections;
using System.Diagnostics;
using System.Net;
using System.Text;
using Garnet.Common;
using Garnet.Common.Test;
using Garnet.Migration;

namespace Garnet.Wire.Takeover;

/// <summary>garnet-server migrate: as a process of its own, or, where a test has hundreds, in this one.</summary>
internal sealed class Migration : IDisposable
{
    private const int PatienceMs = 120_000, BetweenLooksMs = 10;

    private readonly Process _process;
    private readonly StringBuilder _said = new();
    private readonly CountdownEvent _streams = new(2);
    private long _peakBytes;

    private Migration(Process process)
    {
        _process = process;
        process.OutputDataReceived += Keep;
        process.ErrorDataReceived += Keep;
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    /// <summary>All that it has written so far.</summary>
    public string Said
    {
        get
        {
            lock (_said) return _said.ToString();
        }
    }

    /// <summary>True once it runs no more.</summary>
    public bool HasEnded => _process.HasExited;

    /// <summary>What it has held at most, as far as was seen.</summary>
    public long PeakBytes => _peakBytes;

    /// <summary>Starts it.</summary>
    public static Migration Begin(string from, string to, params string[] options)
    {
        ProcessStartInfo start = new(ServerProcess.OurProgram, ["migrate", from, to, .. options]) { RedirectStandardOutput = true, RedirectStandardError = true };
        return new Migration(Process.Start(start)!);
    }

    /// <summary>Runs it to its end.</summary>
    public static (int Code, string Said) Run(EndPoint from, EndPoint to, params string[] options)
    {
        using Migration run = Begin($"{from}", $"{to}", options);
        return run.End();
    }

    /// <summary>The same in this process.</summary>
    public static (int Code, string Said) RunHere(EndPoint from, EndPoint to, params string[] options)
    {
        var said = new StringBuilder();
        using var ends = new CancellationTokenSource(PatienceMs);
        try
        {
            var lines = new MigrationLines(text => said.AppendLine(text), static _ => { }, asJson: false);
            using var migration = new RunningMigration(MigrationWords.Parse([$"{from}", $"{to}", .. options], new Hashtable()), lines);
            return (migration.Run(ends.Token) ? 0 : 1, said.ToString());
        }
        catch (GarnetException e)
        {
            return ((int)e.Kind, said.Append(e.Message).ToString());
        }
    }

    /// <summary>Waits for its end.</summary>
    public (int Code, string Said) End()
    {
        long beganMs = Environment.TickCount64;
        while (!_process.WaitForExit(BetweenLooksMs))
        {
            Look();
            if (Environment.TickCount64 - beganMs > PatienceMs) throw new TimeoutException($"it does not end: {Said}");
        }
        _streams.Await(); // the rest of its lines
        return (_process.ExitCode, Said);
    }

    /// <summary>Waits until it has said something.</summary>
    public void Await(string text)
    {
        bool came = SpinWait.SpinUntil(() => Said.Contains(text, StringComparison.Ordinal) || _process.HasExited, PatienceMs);
        if (!came || !Said.Contains(text, StringComparison.Ordinal)) throw new TimeoutException($"it does not say '{text}' but {Said}");
    }

    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit(PatienceMs);
    }

    public void Dispose()
    {
        if (!_process.HasExited) Kill();
        _process.Dispose();
    }

    private void Look()
    {
        try
        {
            _process.Refresh();
            _peakBytes = Math.Max(_peakBytes, _process.PeakWorkingSet64);
        }
        catch (InvalidOperationException)
        {
            // it has ended meanwhile
        }
    }

    private void Keep(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is null)
        {
            _streams.Signal();
            return;
        }
        lock (_said) _said.AppendLine(line.Data);
    }
}
