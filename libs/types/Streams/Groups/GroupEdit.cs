using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Makes, changes or removes a group or a consumer of one (XGROUP).</summary>
public unsafe struct GroupEdit : IEdit
{
    private const int FixedBytes = 1 + StreamIds.IdBytes + (2 * sizeof(long));

    public GroupAction Action;
    /// <summary>The group's name, and the consumer's where one is meant.</summary>
    public Operands Names;
    public StreamId Id;
    /// <summary>The group begins at the stream's last id.</summary>
    public bool AtEnd;
    public long Read;
    public bool MakesStream;
    public long NowMs;

    public bool Existed;
    public bool WrongKind;
    public bool GroupExisted;
    /// <summary>What the command replies where it replies a number.</summary>
    public long Result;

    public static byte OpId => 34;

    public readonly long EncodedBytesMax => FixedBytes + Names.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        Existed = edit.Exists;
        WrongKind = Existed && edit.Kind != RecordKind.Stream;
        if (WrongKind || (!Existed && !MakesStream))
            return false;
        Operands.Reader names = Names.Read();
        names.Next();
        int group = Existed ? StreamGroups.Find(ref edit, names.Span) : -1;
        GroupExisted = group >= 0;
        if (Action == GroupAction.Create)
            return !GroupExisted && TryCreate(ref edit, names.Span);
        if (!GroupExisted)
            return false;
        switch (Action)
        {
            case GroupAction.SetId:
                GroupState* state = StreamGroups.Open(ref edit, group);
                state->Last = Id = AtEnd ? StreamForm.Header(ref edit)->Last : Id;
                AtEnd = false;
                state->Read = Read;
                return true;
            case GroupAction.Destroy:
                IdsAhead.LookAtGroup(ref edit, group);
                StreamGroups.Destroy(ref edit, group);
                Result = 1;
                return true;
            default:
                names.Next();
                return ChangeConsumer(ref edit, group, names.Span);
        }
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)((byte)Action | (MakesStream ? 0x80 : 0));
        MemoryMarshal.Write(to[1..], Id);
        BinaryPrimitives.WriteInt64LittleEndian(to[17..], Read);
        BinaryPrimitives.WriteInt64LittleEndian(to[25..], NowMs);
        return FixedBytes + Names.Encode(to[FixedBytes..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes || (from[0] & 0x7F) > (byte)GroupAction.RemoveConsumer)
            return false;
        Action = (GroupAction)(from[0] & 0x7F);
        MakesStream = (from[0] & 0x80) != 0;
        Id = MemoryMarshal.Read<StreamId>(from[1..]);
        Read = BinaryPrimitives.ReadInt64LittleEndian(from[17..]);
        NowMs = BinaryPrimitives.ReadInt64LittleEndian(from[25..]);
        return Operands.TryDecode(from[FixedBytes..], out Names) && Names.Count == (Action >= GroupAction.AddConsumer ? 2 : 1);
    }

    private bool TryCreate(ref RecordEdit edit, ReadOnlySpan<byte> name)
    {
        if (!Existed && !StreamForm.TryCreate(ref edit))
            return false;
        Id = AtEnd ? StreamForm.Header(ref edit)->Last : Id;
        AtEnd = false;
        if (StreamGroups.TryCreate(ref edit, name, Id, Read))
            return true;
        if (!Existed)
            edit.Remove();
        return false;
    }

    private bool ChangeConsumer(ref RecordEdit edit, int group, ReadOnlySpan<byte> name)
    {
        if (Action == GroupAction.AddConsumer)
        {
            bool added = StreamGroups.FindOrAdd(ref edit, group, name, NowMs, out bool isNew) >= 0 && isNew;
            Result = added ? 1 : 0;
            return added;
        }

        int consumer = StreamGroups.Consumers(ref edit, group).Find(name);
        if (consumer < 0)
            return false;
        IdsAhead.LookAtConsumer(ref edit, group, consumer);
        Result = StreamGroups.State(ref edit, group, consumer).Pending;
        StreamGroups.RemoveConsumer(ref edit, group, consumer);
        return true;
    }
}
