namespace Garnet.Load.Traffic;

/// <summary>What the replies of one run had in them besides data.</summary>
internal sealed class ReplyTally
{
    public long Errors;
    public long Nils;
    public long Wrong;
    public string? FirstError;

    public void Clear()
    {
        Errors = Nils = Wrong = 0;
        FirstError = null;
    }
}
