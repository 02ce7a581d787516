using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Strings;
using Garnet.Types.Keys;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Tags;

/// <summary>
/// Optimistic concurrency by ETag, with the command names of microsoft/garnet: every change through these commands raises a
/// number that travels with the value; a plain SET drops it.
/// </summary>
internal static class TagCommands
{
    private const int HeadBytes = 64;

    internal static void Register(CommandTable table)
    {
        table.Add<SetWithETag>();
        table.Add<GetWithETag>();
        table.Add<GetIfNotMatch>();
        table.Add<SetIfMatch>();
        table.Add<SetIfGreater>();
        table.Add<DelIfGreater>();
    }

    internal static void Replay(ReplayTable table)
    {
        table.Add<SetTagged>();
        table.Add<DeleteIfOlder>();
    }

    internal static CommandSpec Spec(string name, int arity, bool write, string syntax, string summary) =>
        StringCommands.Spec(name, arity, write ? StringCommands.WriteFast : StringCommands.ReadFast, KeySpec.One,
            write ? "RW ACCESS UPDATE" : "RO ACCESS", syntax, summary) with { Since = "7.4.0" };

    /// <summary>Reads a non-negative ETag; on false the error has been written.</summary>
    internal static bool TryTag(ref Call call, int index, out ulong tag, out Reply failed)
    {
        failed = Reply.Sent;
        bool fine = call.TryInt64(index, out long number) && number >= 0;
        tag = (ulong)number;
        if (!fine)
            failed = call.FailBytes("ERR ETAG must be a non-negative integer"u8);
        return fine;
    }

    /// <summary>Reads EX, PX and NOGET; on false the error has been written.</summary>
    internal static bool TryOptions(ref Call call, int first, bool allowNoGet, ref SetTagged set, out Reply failed)
    {
        failed = Reply.Sent;
        int end = call.Count;
        bool noGet = allowNoGet && end > first && call.Is(end - 1, "NOGET"u8);
        if (noGet)
            end--;
        set.WantsOld = allowNoGet && !noGet;
        if (end == first)
            return true;
        bool seconds = call.Is(first, "EX"u8);
        if (end != first + 2 || (!seconds && !call.Is(first, "PX"u8)))
            failed = call.Fail(Fault.Syntax);
        else if (!call.TryInt64(first + 1, out long time))
            failed = call.Fail(Fault.NotAnInteger);
        else if (!ExpiryTime.TryAbsolute(time, seconds, absolute: false, call.NowMs, out set.ExpireAtMs))
            failed = ExpiryTime.Refuse(ref call);
        return failed == Reply.Sent;
    }

    /// <summary>Runs the operation and replies <c>[etag, nil]</c> if it applied, else <c>[etag, value]</c> of what is there.</summary>
    internal static unsafe Reply Apply(ref Call call, SetTagged template)
    {
        KeyRef key = call.Key;
        while (true)
        {
            SetTagged set = template;
            if (set.WantsOld)
            {
                call.Out.Room(2 * HeadBytes);
                call.Out.Position += HeadBytes; // room for the array header and the number; Show closes the gap
                set.Old = new ValueCopy(call.Out);
                call.Out.Position -= HeadBytes;
            }

            Outcome outcome = call.Session.Modify(in key, ref set);
            if (outcome is not (Outcome.Done or Outcome.Unchanged))
                return call.From(outcome);
            if (set.WrongKind)
                return call.Fail(Fault.WrongType);
            if (set.WantsOld && set.Old.TooSmall)
            {
                call.Out.Room(set.Old.Length + (4 * HeadBytes));
                continue;
            }

            return Show(ref call, in set);
        }
    }

    private static unsafe Reply Show(ref Call call, in SetTagged set)
    {
        if (!set.Existed && !set.Applied)
            return call.Null();
        byte* value = call.Out.Position + HeadBytes;
        call.Out.Array(2);
        call.Out.Int((long)set.ETag);
        if (set.Applied || !set.WantsOld)
            return call.Null();
        long bytes = set.Old.End - value;
        Buffer.MemoryCopy(value, call.Out.Position, bytes, bytes);
        call.Out.Position += bytes;
        return Reply.Sent;
    }
}

/// <summary>When a tagged set takes effect.</summary>
internal enum TagCondition : byte
{
    Always,
    IfMatch,
    IfGreater,
}

/// <summary>Sets a string and its ETag. Logged as the result: value, expiry and ETag.</summary>
internal unsafe struct SetTagged : IModify
{
    internal byte* Value;
    internal int Length;
    internal long ExpireAtMs;
    internal TagCondition Condition;
    internal ulong Given;
    internal bool WantsOld;
    internal ValueCopy Old;

    /// <summary>The ETag there is afterwards.</summary>
    internal ulong ETag;
    internal bool Existed;
    internal bool Applied;
    internal bool WrongKind;
    private bool _replayed;

    public static byte OpId => 10;

    public static bool Replaces(ReadOnlySpan<byte> arguments) => true;

    public readonly bool IsBlind => _replayed;

    public readonly long EncodedBytesMax => 16 + Length;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Existed = existing.Exists;
        WrongKind = Existed && existing.Kind != RecordKind.String;
        if (WrongKind)
            return Verdict.Keep;
        if (!_replayed && !Decide(in existing))
            return Verdict.Keep;
        Applied = true;
        next.Kind = RecordKind.String;
        next.ValueBytes = Length;
        next.ExpireAtMs = ExpireAtMs;
        next.ETag = ETag;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) =>
        new ReadOnlySpan<byte>(Value, Length).CopyTo(value);

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, ExpireAtMs);
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], ETag);
        new ReadOnlySpan<byte>(Value, Length).CopyTo(to[16..]);
        return 16 + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 16)
            return false;
        _replayed = true;
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from);
        ETag = BinaryPrimitives.ReadUInt64LittleEndian(from[8..]);
        Length = from.Length - 16;
        Value = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + 16;
        return true;
    }

    private bool Decide(in RecordView existing)
    {
        ulong current = existing.ETag;
        ETag = current;
        bool holds = Condition switch
        {
            TagCondition.Always => true,
            TagCondition.IfMatch => Existed && current == Given,
            _ => !Existed || Given > current,
        };
        if (holds)
        {
            ETag = Condition == TagCondition.IfGreater ? Given : current + 1;
            return true;
        }

        if (Existed && WantsOld)
            Old.Look(in existing);
        return false;
    }
}

internal readonly unsafe struct SetWithETag : ICommand
{
    public static CommandSpec Spec => TagCommands.Spec("SETWITHETAG", -3, write: true, "key value [EX seconds | PX milliseconds]", "Sets a string and raises its ETag; returns the ETag.") with { Event = KeyEvent.Set with { ExpiryAt = 3 } };

    public static Reply Run(ref Call call)
    {
        var set = new SetTagged { Value = call.Args[2].Bytes, Length = call.Args[2].Length };
        if (!TagCommands.TryOptions(ref call, 3, allowNoGet: false, ref set, out Reply failed))
            return failed;
        KeyRef key = call.Key;
        Outcome outcome = call.Session.Modify(in key, ref set);
        if (set.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome == Outcome.Done ? call.Int((long)set.ETag) : call.From(outcome);
    }
}

internal readonly unsafe struct SetIfMatch : ICommand
{
    public static CommandSpec Spec => TagCommands.Spec("SETIFMATCH", -4, write: true, "key value etag [EX seconds | PX milliseconds] [NOGET]", "Sets a string if the ETag is the given one.") with { Event = KeyEvent.Set with { ExpiryAt = 4 } };

    public static Reply Run(ref Call call) => RunAny(ref call, TagCondition.IfMatch);

    internal static Reply RunAny(ref Call call, TagCondition condition)
    {
        var set = new SetTagged { Value = call.Args[2].Bytes, Length = call.Args[2].Length, Condition = condition };
        if (!TagCommands.TryTag(ref call, 3, out set.Given, out Reply failed)
            || !TagCommands.TryOptions(ref call, 4, allowNoGet: true, ref set, out failed))
            return failed;
        return TagCommands.Apply(ref call, set);
    }
}

internal readonly struct SetIfGreater : ICommand
{
    public static CommandSpec Spec => TagCommands.Spec("SETIFGREATER", -4, write: true, "key value etag [EX seconds | PX milliseconds] [NOGET]", "Sets a string and its ETag if the given ETag is greater.") with { Event = KeyEvent.Set with { ExpiryAt = 4 } };

    public static Reply Run(ref Call call) => SetIfMatch.RunAny(ref call, TagCondition.IfGreater);
}

internal readonly struct GetWithETag : ICommand
{
    public static CommandSpec Spec => TagCommands.Spec("GETWITHETAG", 2, write: false, "key", "Returns the ETag and the value of a string; ETag 0 if it has none.");

    public static Reply Run(ref Call call) => RunAny(ref call, ulong.MaxValue);

    /// <summary>Replies <c>[etag, value]</c>, or <c>[etag, nil]</c> when the ETag is the one the client has.</summary>
    internal static Reply RunAny(ref Call call, ulong known)
    {
        KeyRef key = call.Key;
        if (!ValueBytes.TryRead(call.Session, in key, out byte[] value, out ulong? tag))
            return call.Fail(Fault.WrongType);
        if (tag is null)
            return call.Null();
        call.Out.Array(2);
        call.Out.Int((long)tag);
        return tag == known ? call.Null() : call.Bulk(value);
    }
}

internal readonly struct GetIfNotMatch : ICommand
{
    public static CommandSpec Spec => TagCommands.Spec("GETIFNOTMATCH", 3, write: false, "key etag", "Returns the ETag and the value of a string, without the value if the ETag is the given one.");

    public static Reply Run(ref Call call) =>
        TagCommands.TryTag(ref call, 2, out ulong tag, out Reply failed) ? GetWithETag.RunAny(ref call, tag) : failed;
}

internal readonly struct DelIfGreater : ICommand
{
    public static CommandSpec Spec => TagCommands.Spec("DELIFGREATER", 3, write: true, "key etag", "Deletes a string if the given ETag is greater than its own.");

    public static Reply Run(ref Call call)
    {
        if (!TagCommands.TryTag(ref call, 2, out ulong tag, out Reply failed))
            return failed;
        KeyRef key = call.Key;
        var delete = new DeleteIfOlder { Given = tag };
        Outcome outcome = call.Session.Modify(in key, ref delete);
        if (delete.WrongKind)
            return call.Fail(Fault.WrongType);
        return outcome is Outcome.Done or Outcome.Unchanged or Outcome.NotFound ? call.Int(delete.Removed ? 1 : 0) : call.From(outcome);
    }
}

/// <summary>Removes a string whose ETag is smaller than the given one. Logged without the condition.</summary>
internal struct DeleteIfOlder : IModify
{
    internal ulong Given;
    internal bool Removed;
    internal bool WrongKind;
    private bool _replayed;

    public static byte OpId => 11;

    public static bool Replaces(ReadOnlySpan<byte> arguments) => true;

    public readonly bool IsBlind => _replayed;

    public readonly long EncodedBytesMax => 0;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        WrongKind = existing.Exists && !_replayed && existing.Kind != RecordKind.String;
        Removed = existing.Exists && !WrongKind && (_replayed || Given > existing.ETag);
        return Removed ? Verdict.Remove : Verdict.Keep;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
    }

    public readonly int Encode(Span<byte> to) => 0;

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        _replayed = from.IsEmpty;
        return _replayed;
    }
}
