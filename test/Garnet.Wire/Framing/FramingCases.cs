namespace Garnet.Wire.Framing;

/// <summary>The framing rules of the protocol, one row each: limits, malformed input, and what a stranger may send before AUTH.</summary>
internal static class FramingCases
{
    private const string Multibulk = "-ERR Protocol error: invalid multibulk length\r\n";
    private const string Bulk = "-ERR Protocol error: invalid bulk length\r\n";
    private const string Quotes = "-ERR Protocol error: unbalanced quotes in request\r\n";
    private const string NoAuth = "-NOAUTH Authentication required.\r\n";

    private const string BadName = "-ERR Client names cannot contain spaces, newlines or special characters.\r\n";

    public static IEnumerable<FramingCase> All() => [.. Empty(), .. Counts(), .. Bulks(), .. Inline(), .. Strangers()];

    private static IEnumerable<FramingCase> Empty() =>
    [
        new("an array of no elements is ignored", "*0\r\n", "", Ending.Stays),
        new("an array of minus one elements is ignored", "*-1\r\n", "", Ending.Stays),
        new("a blank line is ignored", "\r\n", "", Ending.Stays),
        new("a bare LF is ignored", "\n", "", Ending.Stays),
        new("blanks alone are ignored", "   \r\n", "", Ending.Stays),
        new("empty arrays leave the parser as it was", "*0\r\n*-1\r\nPING\r\n*1\r\n$4\r\nPING\r\n", "+PONG\r\n+PONG\r\n", Ending.Stays),
        new("a request behind QUIT is not answered", "QUIT\r\nPING\r\n", "+OK\r\n", Ending.Closes),
        new("an empty command name is unknown", "*1\r\n$0\r\n\r\n", "-ERR unknown command '', with args beginning with: \r\n", Ending.Stays),
    ];

    private static IEnumerable<FramingCase> Counts() =>
    [
        new("a count that is no number", "*abc\r\n", Multibulk, Ending.Closes),
        new("a count with a plus sign", "*+1\r\n", Multibulk, Ending.Closes),
        new("a count with a blank", "* 1\r\n", Multibulk, Ending.Closes),
        new("a count with a leading zero", "*01\r\n", Multibulk, Ending.Closes),
        new("an empty count", "*\r\n", Multibulk, Ending.Closes),
        new("a count above 2^31-1", "*2147483648\r\n", Multibulk, Ending.Closes),
        new("a count above 2^63", "*99999999999999999999\r\n", Multibulk, Ending.Closes),
        new("a count above our cap", "*1048577\r\n", "", Ending.Waits) { OursReplies = Multibulk, OursEnding = Ending.Closes },
        new("a count of a million waits", "*1000000\r\n", "", Ending.Waits),
        new("a count line without end", "*" + new string('1', 70_000), "-ERR Protocol error: too big mbulk count string\r\n", Ending.Closes),
        new("a count line that stops half way waits", "*" + new string('1', 20_000), "", Ending.Waits),
        new("replies before the bad request still come", "*1\r\n$4\r\nPING\r\n*x\r\n", "+PONG\r\n" + Multibulk, Ending.Closes),
    ];

    private static IEnumerable<FramingCase> Bulks() =>
    [
        new("an element without dollar sign", "*1\r\n+PING\r\n", "-ERR Protocol error: expected '$', got '+'\r\n", Ending.Closes),
        new("an element that is a line end", "*1\r\n\r\n", "-ERR Protocol error: expected '$', got '\r'\r\n".Replace("'\r'", "' '", StringComparison.Ordinal), Ending.Closes),
        new("a negative bulk length", "*1\r\n$-1\r\n", Bulk, Ending.Closes),
        new("a bulk length that is no number", "*1\r\n$abc\r\n", Bulk, Ending.Closes),
        new("an empty bulk length", "*1\r\n$\r\n", Bulk, Ending.Closes),
        new("a bulk length with a plus sign", "*1\r\n$+4\r\nPING\r\n", Bulk, Ending.Closes),
        new("a bulk length with a leading zero", "*1\r\n$04\r\nPING\r\n", Bulk, Ending.Closes),
        new("a bulk length above 512 MiB", "*1\r\n$536870913\r\n", Bulk, Ending.Closes),
        new("a bulk length of 512 MiB waits", "*2\r\n$3\r\nGET\r\n$536870912\r\nabc", "", Ending.Waits),
        new("a bulk length line without end", "*1\r\n$" + new string('1', 70_000), "-ERR Protocol error: too big bulk count string\r\n", Ending.Closes),
        new("two bytes behind a bulk are skipped unseen", "*1\r\n$4\r\nPINGxx", "+PONG\r\n", Ending.Stays) { OursReplies = "-ERR Protocol error: invalid CRLF in request\r\n", OursEnding = Ending.Closes },
        new("half a request waits", "*2\r\n$3\r\nGET\r\n$1\r\n", "", Ending.Waits),
    ];

    private static IEnumerable<FramingCase> Inline() =>
    [
        new("an inline command", "PING\r\n", "+PONG\r\n", Ending.Stays),
        new("an inline command that ends in LF only", "PING\n", "+PONG\r\n", Ending.Stays),
        new("inline arguments between blanks", "  ECHO   hi  \r\n", "$2\r\nhi\r\n", Ending.Stays),
        new("inline arguments in quotes", "ECHO \"a b\\x41\\n\"\r\nECHO 'it\\'s'\r\n", "$5\r\na bA\n\r\n$4\r\nit's\r\n", Ending.Stays),
        new("an unknown inline command", "nosuch\r\n", "-ERR unknown command 'nosuch', with args beginning with: \r\n", Ending.Stays),
        new("a double quote that is not closed", "SET k \"v\r\n", Quotes, Ending.Closes),
        new("a single quote that is not closed", "SET k 'v\r\n", Quotes, Ending.Closes),
        new("a quote closed in the middle of a word", "SET k \"a\"b\r\n", Quotes, Ending.Closes),
        new("an inline command without end", new string('a', 66_000), "-ERR Protocol error: too big inline request\r\n", Ending.Closes),
        new("an HTTP request", "POST / HTTP/1.1\r\n", "", Ending.Closes),
        new("an HTTP header", "Host: localhost\r\n", "", Ending.Closes),
        new("inline and arrays mixed", "PING\r\n*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\nECHO x\n*0\r\n*1\r\n$4\r\nPING\r\n", "+PONG\r\n$2\r\n\r\n\r\n$1\r\nx\r\n+PONG\r\n", Ending.Stays),
    ];

    private static IEnumerable<FramingCase> Strangers() =>
    [
        Stranger("eleven elements before AUTH", "*11\r\n", "-ERR Protocol error: unauthenticated multibulk length\r\n", Ending.Closes),
        Stranger("ten elements before AUTH", "*10\r\n", "", Ending.Waits),
        Stranger("a bulk of 16385 bytes before AUTH", "*1\r\n$16385\r\n", "-ERR Protocol error: unauthenticated bulk length\r\n", Ending.Closes),
        Stranger("a bulk of 16384 bytes before AUTH", "*1\r\n$16384\r\n", "", Ending.Waits),
        Stranger("GET before AUTH", "GET k\r\n", NoAuth, Ending.Stays),
        Stranger("PING before AUTH", "PING\r\n", NoAuth, Ending.Stays),
        Stranger("an unknown command before AUTH", "NOSUCH\r\n", "-ERR unknown command 'NOSUCH', with args beginning with: \r\n", Ending.Stays),
        Stranger("a wrong password", "AUTH wrong\r\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n", Ending.Stays),
        Stranger("the right password", "AUTH secret\r\nECHO hi\r\n", "+OK\r\n$2\r\nhi\r\n", Ending.Stays),
        Stranger("the right password lifts the limits", "AUTH secret\r\n*11\r\n", "+OK\r\n", Ending.Waits),
        Stranger("HELLO before AUTH", "HELLO 3\r\n", "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time\r\n", Ending.Stays),
        Stranger("HELLO of a protocol that does not exist", "HELLO 4\r\n", "-NOPROTO unsupported protocol version\r\n", Ending.Stays),
        Stranger("HELLO with a wrong password", "HELLO 3 AUTH default wrong\r\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n", Ending.Stays),
        // The reference keeps the authentication of a HELLO that fails; ours applies all of it or nothing.
        Stranger("HELLO with a name that has a blank", "HELLO 3 AUTH default secret SETNAME \"a b\"\r\nPING\r\n", BadName + "+PONG\r\n", Ending.Waits)
            with { OursReplies = BadName + NoAuth },
        Stranger("QUIT before AUTH", "QUIT\r\n", "+OK\r\n", Ending.Closes),
    ];

    private static FramingCase Stranger(string name, string input, string replies, Ending ending) => new(name, input, replies, ending) { BeforeAuth = true };
}
