namespace Garnet.Common.Resp;

/// <summary>What the parser found at its position.</summary>
public enum ParseResult : byte
{
    /// <summary>A whole command.</summary>
    Command,
    /// <summary>Bytes that mean nothing (an empty line, <c>*0</c>); skip them.</summary>
    Nothing,
    /// <summary>The beginning of a command; more bytes are needed.</summary>
    Incomplete,
    /// <summary>Not the protocol: answer <see cref="RespParser.Error"/> and close.</summary>
    ProtocolError,
    /// <summary>An HTTP request line: close without a word (cross-protocol guard).</summary>
    Foreign,
    /// <summary>A TLS handshake, where nothing is encrypted: answer <see cref="RespParser.Error"/> and close.</summary>
    Encrypted,
}
