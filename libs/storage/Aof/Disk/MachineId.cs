using System.Text;

namespace Garnet.Aof.Disk;

/// <summary>The number that this machine has had since it was set up (machine-id(5)), which nobody elsewhere knows; empty where there is none.</summary>
internal static class MachineId
{
    private const string Path = "/etc/machine-id";

    public static byte[] Value { get; } = Read();

    private static byte[] Read()
    {
        try
        {
            return Encoding.UTF8.GetBytes(File.ReadAllText(Path).Trim());
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }
}
