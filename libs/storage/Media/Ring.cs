using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Garnet.Media;

/// <summary>
/// An io_uring(7) for reads: two queues shared with the kernel. The one thread that owns it is the only writer of the tail of the submission
/// queue and of the head of the completion queue.
/// </summary>
internal sealed unsafe class Ring : IDisposable
{
    private const int EntryBytes = 64, CompletionBytes = 16, ParameterBytes = 120;
    private const byte ReadOperation = 22, OnOtherThread = 16;
    private const uint SingleMapping = 1, GetEvents = 1, RegisterEvent = 4, RegisterThreads = 19;
    private const nint SubmissionAt = 0, CompletionAt = 0x8000000, EntriesAt = 0x10000000;

    private readonly int _ring;
    private readonly byte* _submission, _completion, _entries, _completions;
    private readonly nint _submissionBytes, _completionBytes, _entriesBytes;
    private readonly uint* _submissionTail, _submissionArray, _completionHead, _completionTail;
    private readonly uint _submissionMask, _completionMask;
    private uint _unsubmitted;

    private Ring(int ring, byte* parameters)
    {
        _ring = ring;
        uint* words = (uint*)parameters;
        uint submissions = words[0], completions = words[1], features = words[5];
        uint* submissionAt = words + 10, completionAt = words + 20;
        _submissionBytes = (nint)(submissionAt[6] + (submissions * sizeof(uint)));
        _completionBytes = (nint)(completionAt[5] + (completions * CompletionBytes));
        if ((features & SingleMapping) != 0)
            _submissionBytes = _completionBytes = nint.Max(_submissionBytes, _completionBytes);
        _entriesBytes = (nint)submissions * EntryBytes;
        _submission = Map(ring, _submissionBytes, SubmissionAt);
        _completion = (features & SingleMapping) != 0 ? _submission : Map(ring, _completionBytes, CompletionAt);
        _entries = Map(ring, _entriesBytes, EntriesAt);
        if (!IsMapped)
            return;
        _submissionTail = (uint*)(_submission + submissionAt[1]);
        _submissionMask = *(uint*)(_submission + submissionAt[2]);
        _submissionArray = (uint*)(_submission + submissionAt[6]);
        _completionHead = (uint*)(_completion + completionAt[0]);
        _completionTail = (uint*)(_completion + completionAt[1]);
        _completionMask = *(uint*)(_completion + completionAt[2]);
        _completions = _completion + completionAt[5];
    }

    private bool IsMapped => _submission != null && _completion != null && _entries != null;

    /// <summary>Makes a ring for so many reads at a time that writes to the descriptor (-1: none) for each that has finished; null, and the error number, if the kernel does not.</summary>
    public static Ring? TryMake(int depth, int descriptor, out int error)
    {
        byte* parameters = stackalloc byte[ParameterBytes];
        new Span<byte>(parameters, ParameterBytes).Clear();
        int made = Libc.SetUpRing((uint)depth, parameters);
        error = made < 0 ? Libc.Errno : 0;
        if (made < 0)
            return null;
        Ring ring = new(made, parameters);
        if (!ring.IsMapped)
            error = Libc.ENOMEM;
        else if (descriptor >= 0 && Libc.RegisterRing(made, RegisterEvent, &descriptor, 1) < 0)
            error = Libc.Errno;
        if (error == 0)
            return ring;
        ring.Dispose();
        return null;
    }

    /// <summary>The kernel may have so many threads for reads of which <see cref="Read"/> says that they may block: each of them takes one.</summary>
    public void AllowThreads(int count)
    {
        uint* most = stackalloc uint[2] { (uint)count, 0 };
        _ = Libc.RegisterRing(_ring, RegisterThreads, most, 2); // an older one has four times as many as there are cores
    }

    /// <summary>
    /// Puts a read into the queue; the caller counts that there is room. <paramref name="mayBlock"/>: the file system does not know how to begin a read without waiting for its
    /// end, so that a thread of the kernel's is to do it.
    /// </summary>
    public void Read(int file, long offset, byte* to, int bytes, ulong token, bool mayBlock)
    {
        uint tail = *_submissionTail, index = tail & _submissionMask;
        byte* entry = _entries + (index * EntryBytes);
        new Span<byte>(entry, EntryBytes).Clear();
        entry[0] = ReadOperation;
        entry[1] = mayBlock ? OnOtherThread : (byte)0;
        *(int*)(entry + 4) = file;
        *(long*)(entry + 8) = offset;
        *(ulong*)(entry + 16) = (ulong)to;
        *(uint*)(entry + 24) = (uint)bytes;
        *(ulong*)(entry + 32) = token;
        _submissionArray[index] = index;
        Volatile.Write(ref *_submissionTail, tail + 1);
        _unsubmitted++;
    }

    /// <summary>Tells the kernel of what is in the queue. What it does not take now (EAGAIN, EBUSY) it takes with the next call.</summary>
    public void Submit()
    {
        if (_unsubmitted == 0)
            return;
        int taken = Libc.EnterRing(_ring, _unsubmitted, 0, 0);
        if (taken > 0)
            _unsubmitted -= (uint)taken;
    }

    /// <summary>Waits for a completion, for so long at most, and tells the kernel of what is in the queue.</summary>
    public void Wait(int milliseconds)
    {
        if (milliseconds != Timeout.Infinite)
        {
            Submit();
            if (*_completionHead == Volatile.Read(ref *_completionTail))
                Libc.AwaitReadable(_ring, milliseconds);
            return;
        }

        int taken = Libc.EnterRing(_ring, _unsubmitted, 1, GetEvents);
        if (taken > 0)
            _unsubmitted -= (uint)taken;
    }

    /// <summary>Takes what the kernel has completed.</summary>
    public int Take(Span<FinishedRead> finished)
    {
        uint head = *_completionHead, tail = Volatile.Read(ref *_completionTail);
        int count = 0;
        for (; head != tail && count < finished.Length; head++)
        {
            byte* completion = _completions + ((head & _completionMask) * CompletionBytes);
            finished[count++] = new FinishedRead(*(ulong*)completion, *(int*)(completion + 8));
        }
        if (count != 0)
            Volatile.Write(ref *_completionHead, head);
        return count;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Unmap(_entries, _entriesBytes);
        if (_completion != _submission)
            Unmap(_completion, _completionBytes);
        Unmap(_submission, _submissionBytes);
        _ = Libc.close(_ring);
    }

    private static byte* Map(int ring, nint bytes, nint at)
    {
        void* mapping = Libc.mmap(null, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED | Libc.MAP_POPULATE, ring, at);
        return (nint)mapping == -1 ? null : (byte*)mapping;
    }

    private static void Unmap(byte* mapping, nint bytes)
    {
        if (mapping != null)
            _ = Libc.munmap(mapping, bytes);
    }
}
