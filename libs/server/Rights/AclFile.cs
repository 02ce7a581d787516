using System.Text;

namespace Garnet.Server.Rights;

/// <summary>
/// The text of an ACL file: a line for each user, as ACL LIST shows it. Either all lines are right, or every mistake is told and nothing applied.
/// </summary>
internal static class AclFile
{
    /// <summary>Bytes of a file at most: 64 MiB, a few hundred thousand users.</summary>
    internal const long BytesMax = 64L << 20;

    // Lines that are told, and letters of each: a file of this size may have a mistake every two bytes.
    private const int ErrorsMax = 100, ErrorCharsMax = 4096;

    /// <summary>The users of a text; what is wrong with it, in Redis's sentences, line by line: nothing if it is right.</summary>
    internal static Dictionary<string, UserRights> Read(string text, string path, Users users, out List<string> errors) =>
        Read(text, path, users, static (_, sentence) => sentence, out errors);

    /// <summary>The same, with what is to be told of a line that is wrong: its user, empty if it names none, and Redis's sentence.</summary>
    internal static Dictionary<string, UserRights> Read(
        string text, string path, Users users, Func<string, string, string> told, out List<string> errors)
    {
        var read = new Dictionary<string, UserRights>(StringComparer.Ordinal);
        errors = [];
        for (int start = 0, end, number = 1; start < text.Length && errors.Count <= ErrorsMax; start = end + 1, number++)
        {
            end = text.IndexOf('\n', start) is >= 0 and var found ? found : text.Length;
            string line = text[start..end].Trim(' ', '\t', '\r');
            string[] words = line.Split(' ');
            if (line.Length > 0 && ReadLine(words, $"{path}:{number}", read, users.NewRights()) is { Length: > 0 } wrong)
                errors.Add(errors.Count < ErrorsMax ? told(NameIn(words), wrong)
                    : $"{path}:{number}: this and what is wrong behind it is not told. ");
        }

        return read;
    }

    /// <summary>The text for the users.</summary>
    internal static string Write(IEnumerable<NamedRights> users) => string.Concat(users.Select(static user => $"{user}\n"));

    private static string NameIn(string[] words) => words.Length < 2 || words[0] != "user" ? "" : Shortened(words[1]);

    // What is wrong with it, each sentence with a blank behind it.
    private static string ReadLine(string[] words, string at, Dictionary<string, UserRights> read, UserRights rights)
    {
        if (words.Length < 2 || words[0] != "user")
            return $"{at} should start with user keyword followed by the username. ";
        string name = words[1];
        if (RuleText.HasBlanks(name) || name.Length > Users.NameBytesMax)
            return $"{at}: username '{name}' contains invalid characters. ";
        if (!read.TryAdd(name, rights))
            return $"WARNING: Duplicate user '{name}' found on line {at[(at.LastIndexOf(':') + 1)..]}. ";
        if (!RuleWords.TryJoin(words[2..], out List<string> rules, out _))
            return $"{at}: Unmatched parenthesis in selector definition. ";
        return Apply(rules, at, rights);
    }

    // Of what is no unknown command only the first, since others may follow from it; a rule may be a password, and is not shown.
    private static string Apply(List<string> rules, string at, UserRights rights)
    {
        var said = new StringBuilder();
        bool isTold = false;
        foreach (string rule in rules)
        {
            if (said.Length > ErrorCharsMax)
                break;
            RuleError error = rights.Apply(rule.Trim('\t', '\r', '\n'));
            if (error == RuleError.UnknownCommand)
                said.Append($"{at}: Error in applying operation '{Shortened(rule)}': {RuleErrorText.Of(error)}. ");
            else if (error != RuleError.None && !isTold)
                said.Append($"{at}: {RuleErrorText.Of(error)}. ");
            isTold |= error is not (RuleError.None or RuleError.UnknownCommand);
        }

        return said.ToString();
    }

    private static string Shortened(string rule) => rule.Length <= ErrorCharsMax ? rule : rule[..ErrorCharsMax] + "...";
}
