namespace Garnet.Wire;

/// <summary>Whether a request leaves in one write or byte by byte.</summary>
internal enum Sending
{
    Whole,
    Split,
}
