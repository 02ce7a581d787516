using System.Text;
using Garnet.Common.Resp;

namespace Garnet.Server.Families.Admin;

/// <summary>
/// A command's syntax line taken apart into the tree that COMMAND DOCS returns: <c>[x]</c> optional, <c>a | b</c> one of,
/// <c>&lt;…&gt;</c> a group, <c>x [x ...]</c> several, upper-case words are tokens.
/// </summary>
internal sealed class SyntaxArgument
{
    private string _name = "";
    private string _type = "string";
    private string _token = "";
    private bool _optional;
    private bool _multiple;
    private List<SyntaxArgument> _children = [];

    /// <summary>The arguments of a syntax line.</summary>
    internal static List<SyntaxArgument> Parse(string syntax)
    {
        string spaced = syntax.Replace("[", " [ ").Replace("]", " ] ").Replace("<", " < ").Replace(">", " > ");
        string[] words = spaced.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        int at = 0;
        return Sequence(words, ref at);
    }

    /// <summary>Writes the arguments as COMMAND DOCS does.</summary>
    internal static void Write(RespWriter to, List<SyntaxArgument> arguments)
    {
        to.Array(arguments.Count);
        foreach (SyntaxArgument argument in arguments)
            argument.Write(to);
    }

    private void Write(RespWriter to)
    {
        bool flags = _optional || _multiple;
        to.Map(2 + (_type is "oneof" or "block" ? 0 : 1) + (_token.Length > 0 ? 1 : 0) + (flags ? 1 : 0) + (_children.Count > 0 ? 1 : 0));
        Pair(to, "name", _name);
        Pair(to, "type", _type);
        if (_type is not ("oneof" or "block"))
            Pair(to, "display_text", _name);
        if (_token.Length > 0)
            Pair(to, "token", _token);
        if (flags)
        {
            to.Bulk("flags"u8);
            to.Array((_optional ? 1 : 0) + (_multiple ? 1 : 0));
            if (_optional)
                to.Simple("optional"u8);
            if (_multiple)
                to.Simple("multiple"u8);
        }

        if (_children.Count > 0)
        {
            to.Bulk("arguments"u8);
            Write(to, _children);
        }
    }

    // Elements up to the closing bracket; alternatives become one argument of type oneof.
    private static List<SyntaxArgument> Sequence(string[] words, ref int at)
    {
        var alternatives = new List<List<SyntaxArgument>> { new() };
        while (at < words.Length && words[at] is not ("]" or ">"))
        {
            if (words[at] == "|")
            {
                alternatives.Add([]);
                at++;
                continue;
            }

            Element(words, ref at, alternatives[^1]);
        }

        at++;
        if (alternatives.Count == 1)
            return alternatives[0];
        var choice = new SyntaxArgument { _type = "oneof" };
        foreach (List<SyntaxArgument> alternative in alternatives)
            choice._children.Add(Grouped(alternative));
        choice._name = choice._children[0]._name + "-choice";
        return [choice];
    }

    private static void Element(string[] words, ref int at, List<SyntaxArgument> into)
    {
        string word = words[at++];
        if (word == "...")
        {
            if (into.Count > 0)
                into[^1]._multiple = true;
            return;
        }

        if (word is "[" or "<")
        {
            AddGroup(Sequence(words, ref at), word == "[", into);
            return;
        }

        if (!IsToken(word))
        {
            into.Add(new SyntaxArgument { _name = word, _type = TypeOf(word) });
            return;
        }

        // A token takes the value that follows it, if a value follows.
        var token = new SyntaxArgument { _name = word.ToLowerInvariant(), _token = word, _type = "pure-token" };
        if (at < words.Length && words[at] is not ("|" or "]" or ">" or "[" or "<" or "...") && !IsToken(words[at]))
        {
            token._name = words[at];
            token._type = TypeOf(words[at++]);
        }

        into.Add(token);
    }

    private static void AddGroup(List<SyntaxArgument> group, bool optional, List<SyntaxArgument> into)
    {
        if (group.Count == 0)
            return;
        if (optional && group[^1]._multiple && into.Count >= group.Count && into[^group.Count]._name == group[0]._name)
        {
            into[^1]._multiple = true; // "x [x ...]"
            if (group.Count > 1)
            {
                List<SyntaxArgument> repeated = into[^group.Count..];
                into.RemoveRange(into.Count - group.Count, group.Count);
                repeated[^1]._multiple = false;
                into.Add(new SyntaxArgument { _name = "data", _type = "block", _children = repeated, _multiple = true });
            }

            return;
        }

        SyntaxArgument one = Grouped(group);
        one._optional |= optional;
        into.Add(one);
    }

    private static SyntaxArgument Grouped(List<SyntaxArgument> group) =>
        group.Count == 1 ? group[0] : new SyntaxArgument { _name = group[0]._name + "-block", _type = "block", _children = group };

    private static bool IsToken(string word) =>
        word is "*" or "$" or "=" or "~"
            || (char.IsAsciiLetterUpper(word[0]) && word.All(c => char.IsAsciiLetterUpper(c) || char.IsAsciiDigit(c) || c is '-' or '_'));

    private static string TypeOf(string word) => word switch
    {
        "key" or "newkey" or "source" or "destination" or "key1" or "key2" => "key",
        "pattern" => "pattern",
        "unix-time-seconds" or "unix-time-milliseconds" => "unix-time",
        "seconds" or "milliseconds" or "offset" or "start" or "end" or "count" or "increment"
            or "decrement" or "index" or "index1" or "index2" or "numkeys" or "timeout"
            or "cursor" or "db" or "protover" => "integer",
        _ => "string",
    };

    private static void Pair(RespWriter to, string name, string value)
    {
        to.Bulk(name);
        to.Bulk(Encoding.UTF8.GetBytes(value));
    }
}
