using System.Text;

namespace Garnet.Common.Resp;

/// <summary>
/// A reply of one line that comes byte by byte, from another server. Up to so many bytes: an end that sends no line must not fill the memory.
/// </summary>
public readonly struct RespLine(int bytesMax)
{
    private readonly StringBuilder _text = new();

    /// <summary>What has come so far, without the line's end.</summary>
    public string Text => _text.ToString().TrimEnd('\r');

    /// <summary>Takes the next byte; true if the line ends with it.</summary>
    /// <exception cref="IOException">The line is too long.</exception>
    public bool EndsWith(byte next)
    {
        if (next == '\n')
            return true;
        if (_text.Length == bytesMax)
            throw new IOException("its reply does not end");
        _text.Append((char)next);
        return false;
    }
}
