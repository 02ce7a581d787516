namespace Tsavorite;

/// <summary>How far beyond the memory limit a taking may go.</summary>
internal enum Claim : ushort
{
    /// <summary>A write: a 64th, for those already past their check.</summary>
    Limited,

    /// <summary>Part of a step that found room before it began (store.U20): an eighth and 64 MiB, for what was not known then.</summary>
    Assured,

    /// <summary>
    /// A change for which memory was set aside (store.U20): beside what an assured step may, four times as much as was. It takes far less, as it cleans up
    /// behind itself (<see cref="RecordEdit.CleanBehind"/>); the end is for what nobody has thought of.
    /// </summary>
    Promised,

    /// <summary>What frees more than it takes, and what the store cannot do without: without end.</summary>
    Forced,
}
