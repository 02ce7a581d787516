namespace Garnet.Server.Test.Rights;

/// <summary>Whether the server says so when anybody who reaches it may do everything.</summary>
internal sealed class PostureTests
{
    [TestCase("0.0.0.0", false, "", 1)]
    [TestCase("127.0.0.1", false, "", 0)]
    [TestCase("0.0.0.0", true, "", 0)]
    [TestCase("0.0.0.0", false, "geheim", 0)]
    public void A_server_that_is_open_to_the_network_says_so(string address, bool isProtected, string password, int isOpen)
    {
        using var server = new EmbeddedServer(adjust: settings =>
        {
            settings.Network.Bind = [address];
            (settings.Security.ProtectedMode, settings.Security.Password) = (isProtected, password);
        });
        using var client = new TestClient(server.Server.Port);
        if (password.Length > 0) client.Call("AUTH", password);
        Assert.That(client.Call("INFO", "server"), Does.Contain($"garnet_open_to_network:{isOpen}\r\n"));
        client.Call("CONFIG", "SET", "requirepass", "other");
        Assert.That(client.Call("INFO", "server"), Does.Contain("garnet_open_to_network:0\r\n"), "it is asked for each time");
    }
}
