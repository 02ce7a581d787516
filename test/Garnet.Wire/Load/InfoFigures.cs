using System.Globalization;
using System.Text;

namespace Garnet.Wire.Load;

/// <summary>Numbers that a server tells of itself.</summary>
internal static class InfoFigures
{
    /// <summary>A number of a section of INFO.</summary>
    internal static double Of(RespConnection client, string section, string name)
    {
        string line = Encoding.UTF8.GetString(Encoding.Latin1.GetBytes(client.Call("INFO", section).Text)).Split("\r\n").First(l => l.StartsWith(name + ":", StringComparison.Ordinal));
        return double.Parse(line.AsSpan(name.Length + 1), CultureInfo.InvariantCulture);
    }

    /// <summary>Memory that holds data, bytes.</summary>
    internal static double Memory(RespConnection client) => Of(client, "memory", "used_memory");

    /// <summary>Processor time used so far, seconds.</summary>
    internal static double Cpu(RespConnection client) => Of(client, "cpu", "used_cpu_user") + Of(client, "cpu", "used_cpu_sys");
}
