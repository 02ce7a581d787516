using Garnet.Common;

namespace Garnet.Server;

/// <summary>When to write a snapshot; empty text is never.</summary>
public sealed class SaveRules : ISettingValue
{
    private readonly SaveRule[] _rules;

    private SaveRules(SaveRule[] rules) => _rules = rules;

    public static SaveRules None { get; } = new([]);

    /// <summary>What redis-server does where nothing is said: after an hour with a change, five minutes with 100, a minute with 10,000.</summary>
    public static SaveRules OfRedis { get; } = new([new SaveRule(3600, 1), new SaveRule(300, 100), new SaveRule(60, 10_000)]);

    public IReadOnlyList<SaveRule> Rules => _rules;

    public string Text => string.Join(' ', Array.ConvertAll(_rules, static rule => $"{rule.Seconds} {rule.Changes}"));

    public string Wanted => "pairs of seconds (1 or more) and changes, such as 900 1 300 10";

    public bool LinesAdd => true;

    public ISettingValue? Parse(string text, out string error)
    {
        string[] words = SettingText.Words(text);
        error = "Invalid save parameters";
        if (words.Length % 2 != 0)
            return null;
        var rules = new SaveRule[words.Length / 2];
        for (int i = 0; i < rules.Length; i++)
        {
            if (!SettingText.TryInteger(words[2 * i], out long seconds) || seconds < 1)
                return null;
            if (!SettingText.TryInteger(words[2 * i + 1], out long changes) || changes < 0)
                return null;
            rules[i] = new SaveRule(seconds, changes);
        }
        return new SaveRules(rules);
    }
}
