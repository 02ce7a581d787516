using System.Buffers;
using System.Text;

namespace Garnet.Admin.Http;

/// <summary>
/// A request as far as it matters here. Read strictly, since what is read in two ways is read in the wrong one by somebody: lines end with CRLF, nothing is folded or decoded,
/// fields that count are of ASCII and come once, and there is no body.
/// </summary>
internal sealed record HttpRequest
{
    private const int PathBytesMax = 1024;

    private static readonly SearchValues<byte> Token =
        SearchValues.Create("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"u8);

    /// <summary>True for HEAD: the same without a body.</summary>
    internal bool IsHead { get; private init; }

    /// <summary>The path as it was sent, without what stands behind a question mark.</summary>
    internal string Path { get; private init; } = "";

    internal string Host { get; private set; } = "";

    /// <summary>Empty if there is none, as for the fields below.</summary>
    internal string Origin { get; private set; } = "";
    internal string FetchSite { get; private set; } = "";
    internal string FetchMode { get; private set; } = "";
    internal string Authorization { get; private set; } = "";

    /// <summary>True if somebody says that he asks for somebody else.</summary>
    internal bool IsForwarded { get; private set; }

    /// <summary>The request in these bytes, which end with the empty line. Null, and why, if it is none that is answered.</summary>
    internal static HttpRequest? Parse(ReadOnlySpan<byte> head, out HttpStatus refusal)
    {
        refusal = HttpStatus.BadRequest;
        int end = head.IndexOf("\r\n"u8);
        if (end < 0 || Line(head[..end], out refusal) is not { } request)
            return null;
        refusal = HttpStatus.BadRequest;
        var seen = new HashSet<string>(StringComparer.Ordinal);
        for (ReadOnlySpan<byte> rest = head[(end + 2)..]; ; rest = rest[(end + 2)..])
        {
            end = rest.IndexOf("\r\n"u8);
            if (end == 0)
                break;
            if (end < 0 || !request.TryTake(rest[..end], seen, out refusal))
                return null;
        }

        return request.Host.Length > 0 ? request : null;
    }

    private static HttpRequest? Line(ReadOnlySpan<byte> line, out HttpStatus refusal)
    {
        refusal = HttpStatus.BadRequest;
        int first = line.IndexOf((byte)' '), last = line.LastIndexOf((byte)' ');
        if (first <= 0 || last <= first)
            return null;
        ReadOnlySpan<byte> method = line[..first], target = line[(first + 1)..last], version = line[(last + 1)..];
        if (method.ContainsAnyExcept(Token) || !(version.SequenceEqual("HTTP/1.1"u8) || version.SequenceEqual("HTTP/1.0"u8)))
            return null;
        if (target.Length is 0 or > PathBytesMax || target[0] != '/' || target.ContainsAnyExceptInRange((byte)'!', (byte)'~'))
            return null;
        refusal = HttpStatus.MethodNotAllowed;
        if (!method.SequenceEqual("GET"u8) && !method.SequenceEqual("HEAD"u8))
            return null;
        int query = target.IndexOf((byte)'?');
        return new HttpRequest { IsHead = method.Length == 4, Path = Encoding.ASCII.GetString(query < 0 ? target : target[..query]) };
    }

    private bool TryTake(ReadOnlySpan<byte> line, HashSet<string> seen, out HttpStatus refusal)
    {
        refusal = HttpStatus.BadRequest;
        int colon = line.IndexOf((byte)':');
        if (colon <= 0 || line[..colon].ContainsAnyExcept(Token))
            return false;
        ReadOnlySpan<byte> bytes = line[(colon + 1)..].Trim(" \t"u8);
        if (bytes.ContainsAnyInRange((byte)0, (byte)8) || bytes.ContainsAnyInRange((byte)10, (byte)31))
            return false;
        string name = Encoding.ASCII.GetString(line[..colon]).ToLowerInvariant(), value = Encoding.ASCII.GetString(bytes);
        if (name is "transfer-encoding" || (name is "content-length" && value != "0"))
        {
            refusal = HttpStatus.ContentTooLarge;
            return false;
        }

        // Others may hold what they like, cookies of another program on this machine say.
        return !Keep(name, value) || (seen.Add(name) && !bytes.ContainsAnyInRange((byte)0x7F, (byte)0xFF));
    }

    // True if the field counts, and so may come once only.
    private bool Keep(string name, string value)
    {
        switch (name)
        {
            case "host":
                Host = value;
                return true;
            case "origin":
                Origin = value;
                return true;
            case "sec-fetch-site":
                FetchSite = value;
                return true;
            case "sec-fetch-mode":
                FetchMode = value;
                return true;
            case "authorization":
                Authorization = value;
                return true;
            case "forwarded" or "via" or "x-forwarded-for" or "x-forwarded-host" or "x-forwarded-proto":
            case "x-real-ip" or "x-client-ip" or "cf-connecting-ip" or "true-client-ip":
                IsForwarded = true;
                return false;
            default:
                return false;
        }
    }
}
