namespace Garnet.Server.Commands;

/// <summary>The families of commands that have a state on each worker. Made for it by who knows both: a worker does not know the families.</summary>
internal interface IWorkerFamilies
{
    /// <summary>MULTI and EXEC on a worker that is being made.</summary>
    ITransactions TransactionsOn(Executor worker);

    /// <summary>Scripts and functions on a worker, when they are asked for first. From any thread.</summary>
    IScripts ScriptsOn(Executor worker);
}
