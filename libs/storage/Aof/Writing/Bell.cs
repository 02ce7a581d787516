using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Garnet.Aof.Writing;

/// <summary>
/// Wakes the one thread that waits at it; rung while nobody waits, it ends the next wait at once. No lock is held while it is rung, as
/// one is for a monitor's pulse: on a core that both share, the woken thread goes first, finds the lock taken and sleeps again, which
/// was two more switches for each batch. What is woken seldom has a monitor, and so no bell (<c>Signal</c>, <c>AdvanceBell</c> of the server).
/// </summary>
internal sealed unsafe class Bell
{
    private const int Silent = 0, Rung = 1, Awaited = 2;

    private readonly int[] _state = GC.AllocateArray<int>(1, pinned: true); // the system looks at it
    private readonly AutoResetEvent? _event = OperatingSystem.IsLinux() ? null : new AutoResetEvent(false);

    /// <summary>What was written before is seen by the thread when it goes on.</summary>
    public void Ring()
    {
        if (Interlocked.Exchange(ref _state[0], Rung) != Awaited)
            return;
        if (_event != null)
            _event.Set();
        else
            Libc.Wake(Word);
    }

    /// <summary>Returns when rung, or after the time in milliseconds (-1: never); now and then for no reason.</summary>
    public void Wait(int ms)
    {
        if (Interlocked.CompareExchange(ref _state[0], Awaited, Silent) == Silent)
        {
            if (_event != null)
                _event.WaitOne(ms);
            else
                Libc.WaitWhile(Word, Awaited, ms);
        }
        Interlocked.Exchange(ref _state[0], Silent);
    }

    private int* Word => (int*)Marshal.UnsafeAddrOfPinnedArrayElement(_state, 0);
}
