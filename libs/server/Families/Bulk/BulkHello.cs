using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Bulk;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Bulk;

/// <summary>BULK.HELLO: agrees on what carries the bytes, the first of the client's carriers that can be had.</summary>
internal readonly struct BulkHello : ICommand
{
    private const int AddressBytesMax = 4096, AddressesMax = 8, NamesBytesMax = 256;

    public static CommandSpec Spec => BulkCommands.Spec("BULK.HELLO", -2, CommandFlags.None,
        "1 [PROVIDERS provider[,provider ...]] [ADDR address [ADDR address ...]]",
        "Begins a session for values that go beside the connection.");

    public static Reply Run(ref Call call)
    {
        var met = call.Client.Begun as Meeting;
        call.Client.Begun = null;
        if (call.Client.Bulk is { IsClosed: false })
            return call.FailBytes("ERR there is a session: BULK.BYE ends it"u8);
        if (!call.TryInt64(1, out long version) || version != 1)
            return call.FailBytes("ERR version 1 is spoken here"u8);
        string[] wanted = [BulkSession.Inline];
        var addresses = new List<byte[]>();
        for (int i = 2; i < call.Count; i += 2)
        {
            if (i + 1 == call.Count)
                return call.Fail(Fault.Syntax);
            if (call.Is(i, "PROVIDERS"u8) && call[i + 1].Length <= NamesBytesMax)
                wanted = call.Text(i + 1).Split(',');
            else if (call.Is(i, "ADDR"u8) && call[i + 1].Length <= AddressBytesMax && addresses.Count < AddressesMax)
                addresses.Add(call[i + 1].ToArray());
            else
                return call.Fail(Fault.Syntax);
        }

        return Choose(ref call, wanted, addresses, met);
    }

    // The first address is that of the first carrier that has one, and so on.
    private static Reply Choose(ref Call call, string[] wanted, List<byte[]> addresses, Meeting? met)
    {
        var reasons = new StringBuilder();
        int at = 0;
        foreach (string carrier in wanted)
        {
            if (carrier == BulkSession.Inline)
                return Welcome(ref call, call.Server.Bulk.OpenInline(), reasons.ToString());
            if (met is { IsOver: true } && met.Carrier == carrier && met.Take() is { } session)
                return Welcome(ref call, session, reasons.ToString());
            byte[] address = at < addresses.Count ? addresses[at++] : [];
            PeerAddress peer = call.Client.Peer;
            string why = met?.Carrier == carrier ? met.Why : call.Server.Bulk.WhyNot(carrier, peer.IsLoopback);
            if (why.Length == 0 && address.Length == 0)
                why = "it needs the ADDR of the client's endpoint";
            else if (why.Length == 0 && BulkProviders.Fabrics.Contains(carrier) && !peer.IsOfRemoteHost(address))
                why = "its ADDR is not at the address that the connection comes from";
            if (why.Length == 0)
                return new Meeting(call.Server.Bulk, carrier, address, peer.LocalHost).Begin(call.Worker, call.Client);
            reasons.Append(reasons.Length == 0 ? "" : "; ").Append(carrier).Append(": ").Append(why.ReplaceLineEndings(" ").TrimEnd('.'));
        }

        return call.FailText($"BULKCLOSED no provider can be had ({reasons}); inline always can");
    }

    private static Reply Welcome(ref Call call, BulkSession session, string reasons)
    {
        BulkSettings settings = call.Server.Settings.Bulk;
        call.Client.Bulk?.EndUploads(long.MaxValue);
        call.Client.Bulk = session;
        call.Out.Map(12);
        Text(ref call, "version", "1");
        Text(ref call, "provider", session.Carrier);
        call.Out.Bulk("address"u8);
        call.Out.Bulk(session.Address.Span);
        Number(ref call, "session", (long)session.Id);
        Text(ref call, "addressing", "offset");
        Number(ref call, "max-value", call.Server.ClientLimits.Requests.BulkBytesMax);
        Number(ref call, "max-inline", BulkSessions.InlineBytes);
        Number(ref call, "max-operations", settings.SessionOperationsMax);
        Number(ref call, "max-bytes", settings.SessionBytesMax);
        Number(ref call, "max-regions", settings.RegionsMax);
        Number(ref call, "timeout-ms", settings.TimeoutMs);
        Text(ref call, "refused", reasons);
        return Reply.Sent;
    }

    private static void Number(ref Call call, string name, long value)
    {
        call.Out.Bulk(name);
        call.Out.Int(value);
    }

    private static void Text(ref Call call, string name, string value)
    {
        call.Out.Bulk(name);
        call.Out.Bulk(value);
    }
}
