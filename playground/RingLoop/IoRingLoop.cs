using System.Runtime.InteropServices;
using Garnet.Common.Linux;

namespace Garnet.RingLoop;

/// <summary>
/// The same over io_uring(7), as it is best at it: each connection has one receive that goes on by itself and takes a buffer of a common ring when bytes come; sends are
/// queued, and begin, and as a rule end, with the call that waits for the next bytes.
/// </summary>
internal static unsafe class IoRingLoop
{
    private const uint CqSize = 1 << 3, CoopTaskRun = 1 << 8, SingleIssuer = 1 << 12, DeferTaskRun = 1 << 13, GetEvents = 1;
    private const byte AcceptOperation = 13, SendOperation = 26, ReceiveOperation = 27;
    private const byte BufferSelect = 1 << 5, SkipSuccess = 1 << 6;
    private const ushort AcceptMultishot = 1, ReceiveMultishot = 1 << 1;
    private const uint HasBuffer = 1, GoesOn = 2, RegisterBuffers = 22;
    private const int Entries = 4096, Completions = 1 << 16, EntryBytes = 64, CompletionBytes = 16, Buffers = 4096, BufferBytes = 4096;
    private const int SolTcp = 6, NoDelay = 1;
    private const ulong OfAccept = 1UL << 32, OfSend = 2UL << 32;

    private static int s_ring;
    private static byte* s_entries, s_completions, s_buffers, s_bufferRing;
    private static uint* s_tail, s_completionHead, s_completionTail;
    private static uint s_mask, s_completionMask, s_queued;
    private static ushort s_bufferTail;

    public static void Run(int listener)
    {
        SetUp();
        byte* accept = Next();
        accept[0] = AcceptOperation;
        *(ushort*)(accept + 2) = AcceptMultishot;
        *(int*)(accept + 4) = listener;
        *(ulong*)(accept + 32) = OfAccept;
        while (true)
        {
            Enter(1);
            uint head = *s_completionHead, tail = Volatile.Read(ref *s_completionTail);
            for (; head != tail; head++) Take(s_completions + ((head & s_completionMask) * CompletionBytes));
            Volatile.Write(ref *s_completionHead, head);
            Volatile.Write(ref *(ushort*)(s_bufferRing + 14), s_bufferTail);
        }
    }

    private static void Take(byte* completion)
    {
        ulong token = *(ulong*)completion;
        int result = *(int*)(completion + 8);
        uint flags = *(uint*)(completion + 12);
        if (token == OfAccept)
        {
            if (result < 0) throw new InvalidOperationException($"accept: errno {-result}");
            int one = 1;
            _ = Libc.setsockopt(result, SolTcp, NoDelay, &one, sizeof(int));
            Pings.Forget(result);
            Receive(result);
            return;
        }
        if (token >= OfSend)
            return; // only failures are told of: the receive ends too
        int descriptor = (int)token;
        if ((flags & HasBuffer) != 0)
            GiveBuffer((ushort)(flags >> 16));
        if (result > 0 && Pings.Take(descriptor, result) is var reply and not 0)
            Send(descriptor, reply);
        if ((flags & GoesOn) != 0)
            return;
        if (result > 0 || result == -105) // ENOBUFS
            Receive(descriptor);
        else
            _ = Libc.close(descriptor);
    }

    private static void Receive(int descriptor)
    {
        byte* entry = Next();
        entry[0] = ReceiveOperation;
        entry[1] = BufferSelect;
        *(ushort*)(entry + 2) = ReceiveMultishot;
        *(int*)(entry + 4) = descriptor;
        *(ulong*)(entry + 32) = (ulong)descriptor;
    }

    private static void Send(int descriptor, int bytes)
    {
        byte* entry = Next();
        entry[0] = SendOperation;
        entry[1] = SkipSuccess;
        *(int*)(entry + 4) = descriptor;
        *(ulong*)(entry + 16) = (ulong)Pings.Replies;
        *(int*)(entry + 24) = bytes;
        *(int*)(entry + 28) = Libc.MSG_NOSIGNAL | Libc.MSG_DONTWAIT;
        *(ulong*)(entry + 32) = OfSend | (uint)descriptor;
    }

    private static byte* Next()
    {
        if (s_queued == Entries) Enter(0);
        byte* entry = s_entries + (((*s_tail + s_queued) & s_mask) * EntryBytes);
        new Span<byte>(entry, EntryBytes).Clear();
        s_queued++;
        return entry;
    }

    private static void Enter(uint wanted)
    {
        Volatile.Write(ref *s_tail, *s_tail + s_queued);
        int taken = Libc.EnterRing(s_ring, s_queued, wanted, GetEvents);
        if (taken < 0 ? Libc.Errno != Libc.EINTR : taken < s_queued) throw new InvalidOperationException($"io_uring_enter: errno {Libc.Errno}");
        s_queued = 0;
    }

    private static void GiveBuffer(ushort number)
    {
        byte* at = s_bufferRing + (s_bufferTail++ & (Buffers - 1)) * 16;
        *(ulong*)at = (ulong)(s_buffers + (number * BufferBytes));
        *(uint*)(at + 8) = BufferBytes;
        *(ushort*)(at + 12) = number;
    }

    private static void SetUp()
    {
        uint* words = stackalloc uint[30];
        new Span<uint>(words, 30).Clear();
        (words[1], words[2]) = (Completions, CqSize | CoopTaskRun | SingleIssuer | DeferTaskRun);
        s_ring = Libc.SetUpRing(Entries, words);
        if (s_ring < 0) throw new InvalidOperationException($"io_uring_setup: errno {Libc.Errno}");
        uint* submission = words + 10, completion = words + 20;
        byte* queues = Map((nint)Math.Max(submission[6] + (words[0] * 4), completion[5] + (words[1] * CompletionBytes)), 0);
        s_entries = Map((nint)words[0] * EntryBytes, 0x10000000);
        s_tail = (uint*)(queues + submission[1]);
        s_mask = *(uint*)(queues + submission[2]);
        uint* array = (uint*)(queues + submission[6]);
        for (uint i = 0; i < words[0]; i++) array[i] = i;
        s_completionHead = (uint*)(queues + completion[0]);
        s_completionTail = (uint*)(queues + completion[1]);
        s_completionMask = *(uint*)(queues + completion[2]);
        s_completions = queues + completion[5];
        s_buffers = (byte*)NativeMemory.AlignedAlloc(Buffers * BufferBytes, 4096);
        s_bufferRing = (byte*)NativeMemory.AlignedAlloc(Buffers * 16, 4096);
        ulong* registered = stackalloc ulong[5];
        new Span<ulong>(registered, 5).Clear();
        (registered[0], registered[1]) = ((ulong)s_bufferRing, Buffers);
        if (Libc.RegisterRing(s_ring, RegisterBuffers, registered, 1) < 0) throw new InvalidOperationException($"no ring of buffers: errno {Libc.Errno}");
        for (int i = 0; i < Buffers; i++) GiveBuffer((ushort)i);
        Volatile.Write(ref *(ushort*)(s_bufferRing + 14), s_bufferTail);
    }

    private static byte* Map(nint bytes, nint at)
    {
        void* mapping = Libc.mmap(null, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED | Libc.MAP_POPULATE, s_ring, at);
        return (nint)mapping == -1 ? throw new InvalidOperationException($"mmap: errno {Libc.Errno}") : (byte*)mapping;
    }
}
