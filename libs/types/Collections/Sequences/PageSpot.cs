namespace Garnet.Types.Collections;

/// <summary>A page of a sequence by where the directory has it; true until a page comes or goes.</summary>
/// <param name="Branch">The branch, 0 where there are none.</param>
/// <param name="Slot">Its slot there.</param>
/// <param name="Number">Its chunk.</param>
public readonly record struct PageSpot(int Branch, int Slot, uint Number)
{
    public bool IsFirst => (Branch | Slot) == 0;
}
