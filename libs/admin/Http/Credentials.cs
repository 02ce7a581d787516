namespace Garnet.Admin.Http;

/// <summary>A name and a password as Basic authentication has them.</summary>
internal readonly record struct Credentials(byte[] Name, byte[] Password)
{
    private const string Scheme = "Basic ";

    /// <summary>What stands in the field; null if it is no such thing. A name that is empty is that of the default user, as AUTH with one argument has it.</summary>
    internal static Credentials? Of(string authorization)
    {
        if (!authorization.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase))
            return null;
        Span<byte> bytes = new byte[authorization.Length];
        if (!Convert.TryFromBase64String(authorization[Scheme.Length..].Trim(), bytes, out int length))
            return null;
        int colon = bytes[..length].IndexOf((byte)':');
        if (colon < 0)
            return null;
        byte[] name = colon == 0 ? "default"u8.ToArray() : bytes[..colon].ToArray();
        return new Credentials(name, bytes[(colon + 1)..length].ToArray());
    }
}
