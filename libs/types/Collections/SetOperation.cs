namespace Garnet.Types.Collections;

/// <summary>What is made of several sets.</summary>
public enum SetOperation : byte
{
    Intersection,
    Union,
    Difference,
}
