using System.Net;

namespace Garnet.Wire;

/// <summary>Plays the requests of a draft and writes down what the reference answers. Replies already written are kept.</summary>
internal static class TranscriptRecorder
{
    private const int SilenceMs = 40;

    public static void Record(string file, IPEndPoint reference)
    {
        string[] lines = File.ReadAllLines(file);
        Dictionary<string, RespConnection> connections = new() { ["A"] = new RespConnection(reference) };
        RespConnection current = connections["A"];
        current.Call("FLUSHALL");
        List<string> written = [];
        bool skips = false;
        for (int i = 0; i < lines.Length; i++)
        {
            string line = lines[i].TrimEnd();
            written.Add(line);
            if (line.StartsWith("@only", StringComparison.Ordinal)) skips = line == "@only ours";
            if (line == "@both") skips = false;
            if (skips || line.Length == 0 || line[0] is '#' or ' ' or '<') continue;
            if (line.StartsWith("@conn ", StringComparison.Ordinal)) current = Of(connections, line[6..], reference);
            if (line == "@resp3") current.Call("HELLO", "3");
            if (line.StartsWith('>')) current.Send(TranscriptStep.Parse(line, i).Bytes());
            bool isWritten = i + 1 < lines.Length && lines[i + 1].StartsWith('<');
            if (line == "@resp3") continue;
            while (line[0] is '>' or '@' && current.WaitForBytes(isWritten || line[0] == '>' ? SilenceMs : 1) && TryRead(current, out string reply))
                if (!isWritten) written.Add("<< " + reply);
        }
        File.WriteAllLines(file, written);
        foreach (RespConnection connection in connections.Values) connection.Dispose();
    }

    private static bool TryRead(RespConnection connection, out string reply)
    {
        reply = "";
        try
        {
            reply = connection.Read().ToString();
            return true;
        }
        catch (EndOfStreamException)
        {
            return false;
        }
    }

    private static RespConnection Of(Dictionary<string, RespConnection> connections, string name, IPEndPoint server)
    {
        if (!connections.TryGetValue(name, out RespConnection? connection)) connections[name] = connection = new RespConnection(server);
        return connection;
    }
}
