namespace Garnet.Common.Test.Settings;

/// <summary>One setting of each kind.</summary>
public sealed partial class SampleSettings
{
    [Setting("count", "A number.", Unit = SettingUnit.Count, Min = 0, Max = 100, Live = true, Aliases = "number")]
    public int Count { get; set; } = 7;

    [Setting("memory", "A size.", Unit = SettingUnit.Bytes, Min = 0, Live = true)]
    public long Memory { get; set; } = 1024;

    [Setting("switch", "A switch.", Live = true)]
    public bool Switch { get; set; }

    [Setting("fixed", "Not live.")]
    public string Fixed { get; set; } = "x";

    [Setting("guarded", "Protected.", Live = true, Protected = true)]
    public string Guarded { get; set; } = "";

    [Setting("day", "A choice.", Values = "work-day rest-day", Live = true)]
    public SampleDay Day { get; set; }

    [Setting("words", "Words.", Live = true)]
    public string[] Words { get; set; } = ["a", "b"];

    [Setting("secret", "Secret.", Live = true, Secret = true)]
    public string Secret { get; set; } = "";

    [Setting("hidden", "Hidden.", Live = true, Hidden = true)]
    public string Hidden { get; set; } = "h";

    [Setting("only", "Only no.", Live = true, Only = "no", Why = "not built")]
    public bool Only { get; set; }
}
