namespace Garnet.Host;

/// <summary>One directive of a configuration file: where it stands and its words.</summary>
internal readonly record struct ConfigLine(string File, int Number, string[] Words)
{
    public string Where => $"{File}:{Number}";
}
