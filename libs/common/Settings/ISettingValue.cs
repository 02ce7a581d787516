namespace Garnet.Common;

/// <summary>
/// A setting whose text has a grammar of its own, such as <c>save</c> or <c>client-output-buffer-limit</c>. Values are
/// immutable: a change yields the next one.
/// </summary>
public interface ISettingValue
{
    /// <summary>The value as CONFIG GET prints it.</summary>
    string Text { get; }

    /// <summary>The value that <paramref name="text"/> makes of this one, or null and the sentence that says why not.</summary>
    ISettingValue? Parse(string text, out string error);

    /// <summary>What is wanted, for an error message and the reference page; empty if the setting's help says it.</summary>
    string Wanted => "";

    /// <summary>True if a second line of the same file adds to the first instead of replacing it.</summary>
    bool LinesAdd { get; }
}
