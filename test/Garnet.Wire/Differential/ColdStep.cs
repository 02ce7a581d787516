namespace Garnet.Wire.Differential;

/// <summary>How commands of a step run.</summary>
internal enum ColdStep
{
    Alone,
    Transaction,
    Script,

    /// <summary>A script that names none of its keys, so that nothing is fetched ahead of it.</summary>
    ScriptOfUnnamedKeys,
}
