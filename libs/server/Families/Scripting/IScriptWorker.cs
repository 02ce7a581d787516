namespace Garnet.Server.Families.Scripting;

/// <summary>A worker on which scripts and functions run.</summary>
internal interface IScriptWorker
{
    /// <summary>They, and the state they run in.</summary>
    ScriptHost Scripts { get; }
}
