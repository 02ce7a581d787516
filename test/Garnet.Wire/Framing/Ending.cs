namespace Garnet.Wire.Framing;

internal enum Ending
{
    /// <summary>The connection goes on: a PING sent afterwards is answered.</summary>
    Stays,
    /// <summary>The connection is open and waits for the rest of the request.</summary>
    Waits,
    Closes,
}
