using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Blocking;

/// <summary>What takes from the first of several keys that holds something.</summary>
internal interface ITake : IPop
{
    /// <summary>Takes from a key of the command, or replies an error; false if the key is not there.</summary>
    bool TryTake(ref Call call, int keyAt, out Reply reply);
}
