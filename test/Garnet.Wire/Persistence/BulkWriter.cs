using System.Globalization;
using System.Net.Sockets;

namespace Garnet.Wire.Persistence;

/// <summary>
/// A client that writes as much as it can, some hundred commands at once. Each value names its number, keys take turns, so that
/// of every key a value at least as young as the last acknowledged one must be found.
/// </summary>
internal sealed class BulkWriter
{
    /// <summary>Bytes of a value.</summary>
    public const int ValueBytes = 1_500;
    private const int Keys = 20_000, AtOnce = 200, Digits = 12;
    private static readonly string Padding = new('x', ValueBytes - Digits);
    private long _acknowledged;

    /// <summary>Commands acknowledged so far.</summary>
    public long Acknowledged => Volatile.Read(ref _acknowledged);

    /// <summary>Sends commands until the server is gone.</summary>
    public void Run(RespConnection connection)
    {
        try
        {
            while (true)
            {
                for (long i = _acknowledged; i < _acknowledged + AtOnce; i++)
                    connection.Send(RespConnection.Encode("SET", Key(i), i.ToString("D12", CultureInfo.InvariantCulture) + Padding));
                for (int i = 0; i < AtOnce; i++)
                {
                    if (connection.Read().Text != "OK") throw new InvalidOperationException("a SET was refused");
                    Volatile.Write(ref _acknowledged, _acknowledged + 1);
                }
            }
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            connection.Dispose();
        }
    }

    /// <summary>What is missing of that which was acknowledged, or null.</summary>
    public string? Check(RespConnection connection)
    {
        for (long last = _acknowledged - 1; last >= Math.Max(0, _acknowledged - Keys); last--)
        {
            RespNode reply = connection.Call("GET", Key(last));
            long found = reply.IsBulk ? long.Parse(reply.Text[..Digits], CultureInfo.InvariantCulture) : -1;
            if (found < last) return $"{Key(last)}: acknowledged {last}, found {found}";
        }
        return null;
    }

    private static string Key(long number) => string.Create(CultureInfo.InvariantCulture, $"k:{number % Keys}");
}
