using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Hashes;

/// <summary>Removes fields of a hash (HDEL); the hash goes with its last field.</summary>
internal unsafe struct HashRemove : IEdit
{
    internal Operands Fields;

    /// <summary>Fields that were there.</summary>
    internal int Removed;
    internal bool WrongKind;

    public static byte OpId => 16;

    public readonly int EncodedBytesMax => Fields.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Hash;
        if (WrongKind)
            return false;
        bool changed = false;
        for (Operands.Reader reader = Fields.Read(); edit.Exists && reader.Next();)
        {
            if (!Members.Find(ref edit, EntryForm.Pair, reader.Bytes, reader.Length, out Entry old))
                continue;
            Removed += old.IsDue(edit.NowMs) ? 0 : 1;
            changed |= Members.Remove(ref edit, EntryForm.Pair, reader.Bytes, reader.Length);
        }

        return changed;
    }

    public readonly int Encode(Span<byte> to) => Fields.Encode(to);

    public bool TryDecode(ReadOnlySpan<byte> from) => Operands.TryDecode(from, out Fields);
}
