using System.Net.Sockets;

namespace Garnet.Wire.Tiering;

/// <summary>One client of a kill loop: it has keys of its own, and knows what was acknowledged of them and what is in doubt when the server dies.</summary>
internal abstract class KilledWriter(int number)
{
    /// <summary>Changes acknowledged so far; one that was refused is none, nor is a read.</summary>
    public long Acknowledged { get; protected set; }

    /// <summary>What was read, or answered, and cannot be; null: nothing.</summary>
    public string? Wrong { get; protected set; }

    /// <summary>Which of the clients it is.</summary>
    protected int Number => number;

    protected Random Random { get; } = new(number);

    /// <summary>Sends commands until the server is gone.</summary>
    public void Run(RespConnection connection)
    {
        try
        {
            while (Wrong is null) Step(connection);
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            connection.Dispose();
        }
    }

    /// <summary>What differs between the server and what was acknowledged, or null; settles what was in doubt, of which all has happened or nothing.</summary>
    public abstract string? Check(RespConnection connection);

    protected abstract void Step(RespConnection connection);
}
