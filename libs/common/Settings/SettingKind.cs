namespace Garnet.Common;

/// <summary>How a setting's text is read and printed.</summary>
public enum SettingKind
{
    YesNo,
    Number,
    Choice,
    Text,
    Words,
    Custom,
}
