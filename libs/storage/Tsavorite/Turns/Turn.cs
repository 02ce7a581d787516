namespace Tsavorite;

/// <summary>One of those who take turns (<see cref="Turns"/>): a thread that runs batches of commands.</summary>
public sealed class Turn
{
    /// <summary>1 while a batch runs, 0 while none does or it waits for who has the turn alone.</summary>
    internal int Runs;
}
