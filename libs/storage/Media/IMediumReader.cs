namespace Garnet.Media;

/// <summary>
/// Reads of one thread, many at a time; that thread alone calls it. A read is begun, handed to the device with the others that were begun
/// (<see cref="Submit"/>), and taken when it has finished. Its memory belongs to the device until then, and after <see cref="IDisposable.Dispose"/>,
/// which waits for all of them however long they take, to the caller again.
/// </summary>
public interface IMediumReader : IDisposable
{
    /// <summary>How many more reads may be begun.</summary>
    int Room { get; }

    /// <summary>
    /// Begins to read whole blocks; there is <see cref="Room"/>. Offset, address and length are multiples of <see cref="MediumFacts.BlockBytes"/>.
    /// Behind the end of the medium nothing is read.
    /// </summary>
    unsafe void Begin(ulong token, long offset, byte* to, int bytes);

    /// <summary>Hands what was begun to the device.</summary>
    void Submit();

    /// <summary>Takes what has finished, without waiting; returns how many.</summary>
    int Take(Span<FinishedRead> finished);

    /// <summary>Waits until something has finished, if something is under way, and for so long at most.</summary>
    void Wait(int milliseconds = Timeout.Infinite);

    /// <summary>Who was to be woken may be gone: nobody is any more. What is under way goes on, and may be taken.</summary>
    void WakeNobody();
}
