using System.Diagnostics;
using System.Text;
using Garnet.Common.Test.Resp;
using Garnet.Server.Test.Net;
using Garnet.Wire;
using Garnet.Wire.Rdb;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// Damaged payloads of every form under a right checksum: each is refused or becomes a sound value, and the server goes on. The store
/// is checked at the end.
/// </summary>
public sealed class RestoreFuzz
{
    private const int Batch = 64;

    [Test]
    public void A_damaged_payload_is_refused_or_a_sound_value()
    {
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={FuzzStream.Seed}");
        Random random = new(FuzzStream.Seed);
        byte[][] payloads = [.. Payloads.All().Concat(Payloads.Newer()).Select(static form => form.Payload)];
        using TestServer server = new(TransportKind.Sockets);
        using RespConnection client = server.Connect();
        long began = Stopwatch.GetTimestamp(), taken = 0, refused = 0;
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < FuzzStream.Seconds)
        {
            for (int i = 0; i < Batch; i++)
            {
                byte[] payload = Damage(payloads[random.Next(payloads.Length)], random);
                client.Send(RespConnection.Encode("RESTORE"u8.ToArray(), Encoding.ASCII.GetBytes($"k{random.Next(8)}"), "0"u8.ToArray(), payload, "REPLACE"u8.ToArray()));
            }
            for (int i = 0; i < Batch; i++)
            {
                string reply = client.Read().ToString();
                Assert.That(reply, Is.AnyOf("+OK", "-ERR Bad data format"));
                taken += reply == "+OK" ? 1 : 0;
                refused += reply == "+OK" ? 0 : 1;
            }
            string key = $"k{random.Next(8)}"; // what was taken can be read and dumped
            client.Call("DUMP", key);
            client.Call("TYPE", key);
        }
        TestContext.Out.WriteLine($"{taken} taken, {refused} refused");
        Assert.That(taken, Is.Positive);
        Assert.That(refused, Is.Positive);
    }

    private static byte[] Damage(byte[] payload, Random random)
    {
        List<byte> value = [.. payload[..^10]];
        for (int times = random.Next(1, 4); times > 0 && value.Count > 1; times--)
        {
            int at = random.Next(value.Count);
            switch (random.Next(5))
            {
                case 0: value[at] ^= (byte)(1 << random.Next(8)); break;
                case 1: value[at] = (byte)random.Next(256); break;
                case 2: value.RemoveRange(at, Math.Min(random.Next(1, 9), value.Count - at)); break;
                case 3: value.InsertRange(at, value.GetRange(at, Math.Min(random.Next(1, 9), value.Count - at))); break;
                default: value[at] = random.Next(2) == 0 ? (byte)0xFF : (byte)0; break;
            }
        }
        return Payloads.Close(value.Count == 0 ? [0] : [.. value]);
    }
}
