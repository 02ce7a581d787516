using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Bulk;

/// <summary>What becomes of bytes that are all there: the change of a string, or of a part of one (bulk.C1).</summary>
internal static unsafe class BulkChange
{
    private static readonly KeyEvent Patched = new("setrange", NotifyClasses.String);

    /// <summary>All bytes are there: what SET does with them. They are not whoever's who had them if they are a record's now.</summary>
    internal static Reply Make(ref Call call, in PutTerms terms, StagedBytes staged, ulong version, uint crc)
    {
        Reply reply = Make(ref call, in terms, staged.Bytes, version, crc, staged.Value);
        if (staged.Value is { IsTaken: true })
            call.Server.Bulk.CountPlaced();
        return reply;
    }

    // bulk.C1
    internal static Reply Make(ref Call call, in PutTerms terms, byte* bytes, ulong version, uint crc, StagedValue? staged = null)
    {
        if (terms.Crc is { } wanted && wanted != crc)
            return call.FailBytes("BULKCRC the bytes that came have another CRC-32C than was said"u8);
        if (terms.At is { } at)
            return Patch(ref call, in terms, bytes, at, crc);
        KeyRef key = call.Key;
        var set = new SetValue { Value = bytes, Length = terms.Length, ExpireAtMs = terms.ExpireAtMs, Condition = terms.Condition };
        if (terms.VersionArg > 0)
        {
            set.Operand = call.Args[terms.VersionArg].Bytes;
            set.OperandLength = call.Args[terms.VersionArg].Length;
        }

        Outcome outcome = staged is null ? call.Session.Modify(in key, ref set) : staged.Put(call.Session, in key, ref set);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return call.From(outcome);
        if (set.WrongKind)
            return call.Fail(Fault.WrongType);
        return set.Applied ? Answer(ref call, version, crc) : Unmet(ref call, terms.Condition);
    }

    // One step: what was asked about is what is changed, and what is told of.
    private static Reply Patch(ref Call call, in PutTerms terms, byte* bytes, long at, uint crc)
    {
        KeyRef key = call.Key;
        var write = new SetRangeBytes
        {
            Bytes = bytes, Length = terms.Length, Offset = at, BytesMax = call.Server.ClientLimits.Requests.BulkBytesMax,
        };
        call.Session.Lock([key]);
        var before = new VersionLook { IsWanted = terms.VersionArg > 0 };
        bool exists = call.Session.Read(in key, ref before, quiet: true) == Outcome.Done;
        bool isString = !exists || before.Kind == RecordKind.String;
        bool holds = isString && Holds(ref call, in terms, exists, before.Version);
        Outcome outcome = holds ? call.Session.Modify(in key, ref write) : Outcome.Unchanged;
        var after = new VersionLook { IsWanted = true };
        if (holds && call.Session.Read(in key, ref after, quiet: true) != Outcome.Done)
            after.Version = ValueDigest.Of(default);
        call.Session.Unlock();
        if (!isString)
            return call.Fail(Fault.WrongType);
        if (!holds)
            return Unmet(ref call, terms.Condition);
        if (write.TooLong)
            return call.Fail(Fault.StringTooLong);
        if (outcome is not (Outcome.Done or Outcome.Unchanged))
            return call.From(outcome);
        Telling.Tell(ref call, Patched);
        return Answer(ref call, after.Version, crc);
    }

    private static bool Holds(ref Call call, in PutTerms terms, bool exists, ulong version) => terms.Condition switch
    {
        SetCondition.IfAbsent => !exists,
        SetCondition.IfPresent => exists,
        SetCondition.IfDigestEqual => exists && BulkVersion.TryRead(call[terms.VersionArg], out ulong wanted) && wanted == version,
        _ => true,
    };

    private static Reply Unmet(ref Call call, SetCondition condition) =>
        condition == SetCondition.IfDigestEqual ? BulkCommands.FailVersion(ref call) : call.Null();

    internal static Reply Answer(ref Call call, ulong version, uint crc)
    {
        call.Out.Map(2);
        BulkVersion.Write(ref call, version);
        call.Out.Bulk("crc"u8);
        call.Out.Int(crc);
        return Reply.Sent;
    }

    private struct VersionLook : IRead
    {
        internal bool IsWanted;
        internal RecordKind Kind;
        internal ulong Version;

        public void Look(in RecordView record)
        {
            Kind = record.Kind;
            Version = IsWanted && Kind == RecordKind.String ? ValueDigest.Of(record.ValueSpan) : 0;
        }
    }
}
