namespace Garnet.Types.Hashes;

/// <summary>What a walk over a hash replies of each field.</summary>
[Flags]
public enum FieldParts : byte
{
    Name = 1,
    Value = 2,
    Both = 3,
}
