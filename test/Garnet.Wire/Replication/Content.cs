namespace Garnet.Wire.Replication;

/// <summary>All that a server holds, key by key, to be compared with another server's.</summary>
internal static class Content
{
    public static SortedDictionary<string, string> Of(ReplicaServer server, int databases = 2)
    {
        var found = new SortedDictionary<string, string>(StringComparer.Ordinal);
        using RespConnection connection = server.Connect();
        for (int database = 0; database < databases; database++)
        {
            connection.Call("SELECT", $"{database}");
            string cursor = "0";
            do
            {
                RespNode page = connection.Call("SCAN", cursor, "COUNT", "1000");
                cursor = page.Items![0].Text;
                foreach (RespNode key in page.Items[1].Items!) Add(connection, database, key.Text, found);
            }
            while (cursor != "0");
        }
        return found;
    }

    private static void Add(RespConnection connection, int database, string key, SortedDictionary<string, string> to)
    {
        to[$"{database}/{key}"] = $"{connection.Call("GET", key).Text} until {connection.Call("PEXPIRETIME", key).Text}";
    }
}
