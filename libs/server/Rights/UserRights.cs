using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace Garnet.Server.Rights;

/// <summary>What a user may do and how he proves to be the one, as it is at one moment (rights.R1).</summary>
internal sealed class UserRights
{
    private static readonly char[] Blanks = [' ', '\t', '\n', '\r', '\v', '\f', '\0'];

    private readonly RuleTerms _terms;
    private readonly LinkedDictionary<byte[]> _passwords;
    private readonly List<Selector> _selectors; // the user's own rules first
    private bool _isAllAllowedBeside; // by a selector that is not the user's own
    private bool? _sanitizes;

    /// <summary>Those of a new user: none.</summary>
    internal UserRights(RuleTerms terms)
    {
        _terms = terms;
        _passwords = new LinkedDictionary<byte[]>();
        _selectors = [new Selector(terms)];
    }

    /// <summary>A copy.</summary>
    internal UserRights(UserRights other)
    {
        _terms = other._terms;
        _passwords = new LinkedDictionary<byte[]>(other._passwords);
        _selectors = [new Selector(other._selectors[0]), .. other._selectors.Skip(1)]; // selectors are added and dropped, never changed
        (IsOn, NeedsNoPassword, _sanitizes) = (other.IsOn, other.NeedsNoPassword, other._sanitizes);
        (AllowsEverything, _isAllAllowedBeside) = (other.AllowsEverything, other._isAllAllowedBeside);
    }

    /// <summary>False if nobody can become this user.</summary>
    internal bool IsOn { get; private set; }

    /// <summary>True if every password is taken.</summary>
    internal bool NeedsNoPassword { get; private set; }

    /// <summary>True if whoever connects is this user without a word, if it is the default one.</summary>
    internal bool IsOpen => IsOn && NeedsNoPassword;

    /// <summary>True if no command needs to be asked about.</summary>
    internal bool AllowsEverything { get; private set; }

    /// <summary>The sets of rules, the user's own first.</summary>
    internal ReadOnlySpan<Selector> Selectors => CollectionsMarshal.AsSpan(_selectors);

    /// <summary>The hashes of the passwords.</summary>
    internal IEnumerable<string> Passwords => _passwords.Names;

    /// <summary>The flags by their names.</summary>
    internal IEnumerable<string> Flags
    {
        get
        {
            yield return IsOn ? "on" : "off";
            if (NeedsNoPassword)
                yield return "nopass";
            if (_sanitizes is { } sanitizes)
                yield return sanitizes ? "sanitize-payload" : "skip-sanitize-payload";
        }
    }

    /// <summary>True if the password, given as its hash, is one of the user's; takes as long for a wrong one.</summary>
    internal bool Takes(ReadOnlySpan<byte> hash)
    {
        bool found = false;
        foreach ((_, byte[] password) in _passwords)
            found |= CryptographicOperations.FixedTimeEquals(password, hash);
        return found | NeedsNoPassword;
    }

    /// <summary>True if one selector allows the command, of one that names neither database, key nor channel (<see cref="Selector.RefusalOf"/>).</summary>
    internal bool AllowsCommand(int command, ReadOnlySpan<byte> firstArgument)
    {
        foreach (Selector selector in Selectors)
        {
            if (selector.RefusalOf(command, firstArgument).IsNone)
                return true;
        }

        return false;
    }

    /// <summary>True if one selector allows the channel; a pattern must be one of those allowed.</summary>
    internal bool AllowsChannel(ReadOnlySpan<byte> name, bool isPattern)
    {
        foreach (Selector selector in Selectors)
        {
            if (selector.AllowsChannel(name, isPattern))
                return true;
        }

        return false;
    }

    /// <summary>Applies a rule; what is wrong with it, or nothing.</summary>
    internal RuleError Apply(string rule)
    {
        RuleError error = rule.Length == 0 ? RuleError.None : ApplyOne(rule);
        AllowsEverything = _isAllAllowedBeside || _selectors[0].AllowsEverything;
        return error;
    }

    /// <summary>As rules.</summary>
    public override string ToString()
    {
        IEnumerable<string> hashes = _passwords.Names.Select(static hash => "#" + hash);
        return string.Join(' ', [.. Flags, .. hashes, _selectors[0].ToString(), .. _selectors.Skip(1).Select(static one => $"({one})")]);
    }

    private RuleError ApplyOne(string rule) => rule[0] switch
    {
        '>' => AddPassword(PasswordHash.Of(RuleText.Bytes(rule[1..]))),
        '<' => RemovePassword(PasswordHash.Of(RuleText.Bytes(rule[1..]))),
        '#' => PasswordHash.IsHash(rule[1..]) ? AddPassword(rule[1..]) : RuleError.NotAHash,
        '!' => PasswordHash.IsHash(rule[1..]) ? RemovePassword(rule[1..]) : RuleError.NotAHash,
        '(' => AddSelector(rule),
        _ => TryApplyWord(rule.ToLowerInvariant()) ? RuleError.None : _selectors[0].Apply(rule),
    };

    private bool TryApplyWord(string rule)
    {
        switch (rule)
        {
            case "on" or "off":
                IsOn = rule == "on";
                return true;
            case "nopass" or "resetpass":
                NeedsNoPassword = rule == "nopass";
                _passwords.Clear();
                return true;
            case "sanitize-payload" or "skip-sanitize-payload":
                _sanitizes = rule == "sanitize-payload";
                return true;
            case "clearselectors":
                _selectors.RemoveRange(1, _selectors.Count - 1);
                _isAllAllowedBeside = false;
                return true;
            case "reset":
                Reset();
                return true;
            default:
                return false;
        }
    }

    private void Reset()
    {
        (IsOn, NeedsNoPassword, _sanitizes) = (false, false, true);
        _passwords.Clear();
        _selectors.Clear();
        _selectors.Add(new Selector(_terms));
        _isAllAllowedBeside = false;
    }

    private RuleError AddPassword(string hash)
    {
        _passwords.Set(hash, Convert.FromHexString(hash));
        NeedsNoPassword = false;
        return RuleError.None;
    }

    private RuleError RemovePassword(string hash) => _passwords.Remove(hash) ? RuleError.None : RuleError.NoSuchPassword;

    private RuleError AddSelector(string rule)
    {
        if (rule.Length < 2 || rule[^1] != ')')
            return RuleError.Syntax;
        var selector = new Selector(_terms);
        foreach (string inner in rule[1..^1].Split(Blanks, StringSplitOptions.RemoveEmptyEntries))
        {
            RuleError error = RuleText.IsParenthesised(inner) ? RuleError.Syntax : selector.Apply(inner);
            if (error != RuleError.None)
                return error;
        }

        _selectors.Add(selector);
        _isAllAllowedBeside |= selector.AllowsEverything;
        return RuleError.None;
    }
}
