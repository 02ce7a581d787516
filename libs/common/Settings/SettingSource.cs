namespace Garnet.Common;

/// <summary>Who gave a setting its present value; a later member wins over an earlier one at start.</summary>
public enum SettingSource
{
    Default,
    File,
    Environment,
    CommandLine,
    ConfigSet,
}
