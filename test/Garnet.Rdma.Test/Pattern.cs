namespace Garnet.Rdma.Test;

/// <summary>Bytes by a seed.</summary>
internal static class Pattern
{
    public static byte[] Make(int bytes, int seed)
    {
        byte[] made = new byte[bytes];
        new Random(seed).NextBytes(made);
        return made;
    }
}
