using Garnet.Common;
using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>The users that a server starts with: those of its configuration, or of its ACL file. One mistake, and it does not start.</summary>
internal static class StartingUsers
{
    /// <summary>Makes them.</summary>
    /// <exception cref="GarnetException">A line is wrong, or the file cannot be read.</exception>
    internal static void Take(SecuritySettings settings, Users users)
    {
        if (settings.AclFile.Length > 0 && settings.Users.Count > 0)
            throw Refused("users", "the configuration file has some, and an aclfile too", "Move them into the file that aclfile names");
        if (settings.AclFile.Length > 0)
            TakeFile(settings.AclFile, users);
        Expect(Take(settings.Users, users), "Correct them and start again");
    }

    /// <summary>Makes the users of the lines; what is wrong with them, each with its line.</summary>
    internal static List<string> Take(IReadOnlyList<UserLine> lines, Users users)
    {
        var problems = new List<string>();
        var named = new HashSet<string>(StringComparer.Ordinal);
        foreach (UserLine line in lines)
        {
            if (Take(Bytes(line), users, named) is { } problem)
                problems.Add($"{line.Where}: user: {problem}");
        }

        return problems;
    }

    private static string[] Bytes(UserLine line) =>
        [.. line.Words.Select(static word => RuleText.Of(System.Text.Encoding.UTF8.GetBytes(word)))];

    private static string? Take(string[] words, Users users, HashSet<string> named)
    {
        if (words.Length == 0)
            return "a name is missing";
        string name = words[0];
        if (RuleText.HasBlanks(name) || name.Length > Users.NameBytesMax)
            return $"a name has no blanks, and {Users.NameBytesMax} bytes at most";
        if (!named.Add(name))
            return $"Error in user declaration '{name}': Duplicate user found. A user can only be defined once in config files";
        if (!RuleWords.TryJoin(words[1..], out List<string> rules, out string unclosed))
            return $"Unmatched parenthesis in acl selector starting at '{unclosed}'";
        if (name == Users.DefaultName)
            rules.Insert(0, "reset"); // the line says all of it
        if (users.Set(name, rules) is not { } wrong)
            return null;
        return $"Error in user declaration '{Shown(wrong.Rule)}': {RuleErrorText.Of(wrong.Error)}";
    }

    // host.P2: a password is not shown.
    private static string Shown(string rule) => rule.Length > 0 && rule[0] is '>' or '<' or '#' or '!' ? rule[0] + "(redacted)" : rule;

    private static void TakeFile(string path, Users users)
    {
        string text;
        try
        {
            text = AclDisk.Read(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refused($"the ACL file '{path}' cannot be read", e.Message, "Check the path and who may read it");
        }

        Dictionary<string, UserRights> read = AclFile.Read(text, path, users, Named, out List<string> errors);
        Expect(errors, "Correct the file and start again");
        users.Replace(read);
    }

    private static string Named(string user, string sentence) => user.Length == 0 ? sentence : $"user '{user}': {sentence}";

    private static void Expect(List<string> problems, string next)
    {
        if (problems.Count > 0)
            throw Refused("the users cannot be used", Indented(problems), next);
    }

    private static string Indented(List<string> problems) => string.Join("\n  ", ["", .. problems.Select(static one => one.TrimEnd())]);

    private static GarnetException Refused(string what, string why, string next) => new(ExitKind.Configuration, what, why, next);
}
