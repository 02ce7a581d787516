using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Families.Transactions;

namespace Garnet.Server;

/// <summary>What each reactor has of the families of commands.</summary>
internal sealed class WorkerFamilies : IWorkerFamilies
{
    /// <inheritdoc/>
    public ITransactions TransactionsOn(Executor worker) => new TransactionQueue(worker);

    /// <inheritdoc/>
    public IScripts ScriptsOn(Executor worker) => new ScriptHost(worker);
}
