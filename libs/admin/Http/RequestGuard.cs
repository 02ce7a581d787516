using System.Net;

namespace Garnet.Admin.Http;

/// <summary>
/// Whether a request is one of this server's own pages or tools, or one that a page from elsewhere has made a browser send.
///
/// admin.H1  What is asked for under a name that is not ours is not answered: a name of others may lead here at any time (DNS rebinding), an address may not.
/// admin.H2  A page from elsewhere gets nothing, whether the browser says so (Sec-Fetch-Site) or only where it comes from (Origin). It may lead to the page itself, as any link.
/// </summary>
internal static class RequestGuard
{
    /// <summary>Null if it may be answered.</summary>
    /// <param name="request">What was sent.</param>
    /// <param name="local">The address that it came to.</param>
    /// <param name="names">Other names of this server.</param>
    internal static HttpResponse? Refusal(HttpRequest request, IPAddress local, IReadOnlyList<string> names)
    {
        if (!IsOurs(NameOf(request.Host), local, names))
            return HttpResponse.Text(HttpStatus.MisdirectedRequest, "Names that are answered to are those of admin-hosts."); // admin.H1
        return IsFromElsewhere(request) ? HttpResponse.Text(HttpStatus.Forbidden, "Pages from elsewhere get nothing.") : null; // admin.H2
    }

    private static bool IsOurs(string name, IPAddress local, IReadOnlyList<string> names)
    {
        if (name.Equals("localhost", StringComparison.OrdinalIgnoreCase))
            return true;
        if (IPAddress.TryParse(name, out IPAddress? address))
            return IPAddress.IsLoopback(address) || Plain(address).Equals(Plain(local));
        return names.Any(own => own.Equals(name, StringComparison.OrdinalIgnoreCase));
    }

    private static bool IsFromElsewhere(HttpRequest request)
    {
        if (request.FetchMode == "navigate" && request.Path == "/" && request.Origin.Length == 0)
            return false;
        if (request.FetchSite is not ("" or "same-origin" or "none"))
            return true;
        return request.Origin.Length > 0 && !request.Origin.Equals("http://" + request.Host, StringComparison.OrdinalIgnoreCase)
            && !request.Origin.Equals("https://" + request.Host, StringComparison.OrdinalIgnoreCase); // https: a proxy encrypts for us
    }

    // Without the port.
    private static string NameOf(string host)
    {
        if (host.StartsWith('[') && host.IndexOf(']', StringComparison.Ordinal) is > 0 and var end)
            return IsPort(host[(end + 1)..]) ? host[1..end] : "";
        int colon = host.IndexOf(':', StringComparison.Ordinal);
        if (colon < 0)
            return host.TrimEnd('.');
        return IsPort(host[colon..]) ? host[..colon].TrimEnd('.') : "";
    }

    private static bool IsPort(string text) =>
        text.Length == 0 || (text[0] == ':' && text.Length <= 6 && text.AsSpan(1).IndexOfAnyExceptInRange('0', '9') < 0);

    private static IPAddress Plain(IPAddress address) => address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address;
}
