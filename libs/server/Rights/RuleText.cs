using System.Buffers;
using System.Text;

namespace Garnet.Server.Rights;

/// <summary>
/// Rules are text whose characters stand for bytes, one for one: whatever bytes a name or a pattern has, they are kept.
/// </summary>
internal static class RuleText
{
    private static readonly SearchValues<byte> MarksOfRules = SearchValues.Create("><#!'\"() \t\r\n\v\f"u8);

    /// <summary>The text that stands for the bytes.</summary>
    internal static string Of(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);

    /// <summary>The bytes that the text stands for.</summary>
    internal static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    /// <summary>True if a name or a pattern has something in it that would part it into two words of a file.</summary>
    internal static bool HasBlanks(string text) => text.Any(static one => one is ' ' or (>= '\t' and <= '\r') or '\0');

    /// <summary>
    /// True if what stands in the place of a name may hold a password: rules instead of it, or behind it in one argument. A password begins with one of
    /// these, in quotation marks or a selector perhaps.
    /// </summary>
    internal static bool MayHoldPassword(ReadOnlySpan<byte> name) => name.ContainsAny(MarksOfRules);

    /// <summary>True if a rule within a selector would be taken for the beginning or the end of one when it is read back.</summary>
    internal static bool IsParenthesised(string rule) => rule.StartsWith('(') || rule.EndsWith(')');

    /// <summary>True if the rule is the word, in any case.</summary>
    internal static bool Is(string rule, string word) => rule.Equals(word, StringComparison.OrdinalIgnoreCase);

    /// <summary>With small letters for the large ones of ASCII: other bytes are no letters.</summary>
    internal static string Lower(string text) => string.Create(text.Length, text, static (to, from) =>
    {
        for (int i = 0; i < to.Length; i++)
            to[i] = char.IsAsciiLetterUpper(from[i]) ? (char)(from[i] | 0x20) : from[i];
    });
}
