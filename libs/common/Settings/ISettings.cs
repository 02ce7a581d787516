namespace Garnet.Common;

/// <summary>
/// A class that declares settings as properties with <see cref="SettingAttribute"/>. It is partial: its other part, which is this, is written while it is
/// compiled (libs/generators), as reading attributes takes a tenth of a start.
/// </summary>
public interface ISettings
{
    /// <summary>Enters each setting into the table.</summary>
    void Declare(SettingTable table);

    /// <summary>The value of a setting, by its number in this class.</summary>
    object? Get(int setting);

    /// <summary>Sets it; the value is of the property's type.</summary>
    void Set(int setting, object? value);
}
