namespace Garnet.Client;

/// <summary>The server has refused a call; nothing has changed there.</summary>
public sealed class BulkRefusedException(string text) : InvalidOperationException(text)
{
    /// <summary>The word in front of the text: BULKVER, NOPERM, OOM and the like.</summary>
    public string Code { get; } = text.Split(' ')[0];
}
