using System.Globalization;
using System.Text;

namespace Garnet.Admin.Http;

/// <summary>An answer, all of it in memory. Every one ends its connection, so that nothing that comes behind a request is ever taken for another.</summary>
internal sealed record HttpResponse(HttpStatus Status, string ContentType, byte[] Body)
{
    internal const string Plain = "text/plain; charset=utf-8";

    // Of all answers: nothing of them runs elsewhere, nothing from elsewhere runs in them, nobody keeps them or shows them in a frame.
    private const string Guards =
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n"
        + "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n"
        + "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
        + "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\nConnection: close\r\n";

    /// <summary>More lines of the head, each with its end.</summary>
    internal string Fields { get; init; } = "";

    /// <summary>Some words.</summary>
    internal static HttpResponse Text(HttpStatus status, string text) => new(status, Plain, Encoding.UTF8.GetBytes(text + "\n"));

    /// <summary>The head of a stream, whose end is that of the connection.</summary>
    internal static byte[] HeadOfStream(string contentType) =>
        Encoding.ASCII.GetBytes($"HTTP/1.1 200 OK\r\nContent-Type: {contentType}\r\n{Guards}\r\n");

    /// <summary>What is sent before the body.</summary>
    internal byte[] Head => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture,
        $"HTTP/1.1 {(int)Status} {Reason}\r\nContent-Type: {ContentType}\r\nContent-Length: {Body.Length}\r\n{Fields}{Guards}\r\n"));

    private string Reason => Status switch
    {
        HttpStatus.Ok => "OK",
        HttpStatus.SeeOther => "See Other",
        HttpStatus.BadRequest => "Bad Request",
        HttpStatus.Unauthorized => "Unauthorized",
        HttpStatus.Forbidden => "Forbidden",
        HttpStatus.NotFound => "Not Found",
        HttpStatus.MethodNotAllowed => "Method Not Allowed",
        HttpStatus.ContentTooLarge => "Content Too Large",
        HttpStatus.MisdirectedRequest => "Misdirected Request",
        HttpStatus.RequestHeaderFieldsTooLarge => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    };
}
