using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>What one partition holds of one namespace.</summary>
[StructLayout(LayoutKind.Sequential, Size = 16)]
internal struct NamespaceCount
{
    public int Keys, Expiring, Chunks;
    /// <summary>Non-zero once the namespace was given up: nothing new may enter it.</summary>
    public int Retired;
}
