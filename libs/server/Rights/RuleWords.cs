namespace Garnet.Server.Rights;

/// <summary>Selectors that were parted at their blanks, put together again.</summary>
internal static class RuleWords
{
    /// <summary>The rules; false, with the word that opens it, if a selector is never closed.</summary>
    internal static bool TryJoin(IReadOnlyList<string> words, out List<string> rules, out string unclosed)
    {
        rules = [];
        unclosed = "";
        for (int i = 0; i < words.Count; i++)
        {
            if (!IsOpened(words[i]))
            {
                rules.Add(words[i]);
                continue;
            }

            int first = i;
            while (i < words.Count && !words[i].EndsWith(')'))
                i++;
            if (i == words.Count)
            {
                unclosed = words[first];
                return false;
            }

            rules.Add(string.Join(' ', words.Skip(first).Take(i - first + 1)));
        }

        return true;
    }

    private static bool IsOpened(string word) => word.StartsWith('(') && !word.EndsWith(')');
}
