using Garnet.Rdb;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Tsavorite;

namespace Garnet.Server.Families.Rdb;

/// <summary>A key on its way.</summary>
/// <param name="name">Its name.</param>
/// <param name="at">Which argument of the command it is.</param>
internal sealed unsafe class MigratedKey(byte[] name, int at)
{
    internal byte[] Name => name;

    internal int At => at;

    /// <summary>What was sent; null for a key that is to be deleted there, since it was deleted here after it had been sent.</summary>
    internal byte[]? Payload { get; set; }

    internal long ExpireAtMs { get; set; }

    /// <summary>The target has an older copy, which this MIGRATE sent.</summary>
    internal bool WasSent { get; set; }

    /// <summary>The target has taken it.</summary>
    internal bool IsTaken { get; set; }

    /// <summary>Tells whether it has changed here since it was read; null before that.</summary>
    internal Watch? Watch { get; set; }

    /// <summary>Reads what is to be sent, with the key locked; false if it is not there.</summary>
    internal bool TryRead(ref Call call, in KeyRef key)
    {
        var look = default(WholeLook);
        try
        {
            if (call.Session.Examine(in key, ref look, quiet: true) != Outcome.Done || look.Encoder.IsEmpty)
                return false;
            RdbPayload.Close(ref look.Encoder.To, look.Encoder.Version);
            Payload = new ReadOnlySpan<byte>(look.Encoder.To.Bytes.Head, look.Encoder.To.Bytes.Count).ToArray();
            ExpireAtMs = look.ExpireAtMs;
            return true;
        }
        finally
        {
            look.Encoder.To.Bytes.Free(); // it may be put off in the middle of it
        }
    }

    private struct WholeLook : IExamine
    {
        internal RdbEncoder Encoder;
        internal long ExpireAtMs;

        public void Look(ref RecordEdit record)
        {
            ExpireAtMs = record.ExpireAtMs;
            Encoder.Look(ref record);
        }
    }
}
