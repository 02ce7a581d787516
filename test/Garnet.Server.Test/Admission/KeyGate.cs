using System.Collections.Concurrent;
using System.Text;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Test.Admission;

/// <summary>Refuses the keys of one beginning, and lets those of another wait until they are let go; notes what it was asked.</summary>
internal sealed class KeyGate(string refused = "moved", string waits = "cold") : IKeyRule
{
    private readonly ConcurrentDictionary<string, bool> _free = new();

    /// <summary>Database, key, and whether it might have waited, in the order asked.</summary>
    internal ConcurrentQueue<string> Asked { get; } = new();

    internal void LetGo(string key) => _free[key] = true;

    public AdmissionResult Ask(ref Call call, in KeyPositions keys, int database, bool mayBePutOff)
    {
        for (int i = 0; i < keys.Count; i++)
        {
            string key = Encoding.ASCII.GetString(call[keys[i]]);
            Asked.Enqueue($"{database} {key}{(mayBePutOff ? "" : " at once")}");
            if (key.StartsWith(refused, StringComparison.Ordinal))
                return AdmissionResult.Refused("MOVED 1 127.0.0.1:7000");
            if (key.StartsWith(waits, StringComparison.Ordinal) && !_free.ContainsKey(key))
                return mayBePutOff ? AdmissionResult.Until(new Wait(this, key)) : AdmissionResult.Refused("TRYAGAIN the key is not at hand");
        }

        return AdmissionResult.Allowed;
    }

    private sealed class Wait : Parking
    {
        private readonly KeyGate _gate;
        private readonly string _key;

        internal Wait(KeyGate gate, string key)
        {
            _gate = gate;
            _key = key;
            DeadlineMs = EveryTick;
        }

        internal override bool Resume(Worker worker, Connection client) => _gate._free.ContainsKey(_key);
    }
}
