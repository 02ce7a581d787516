using System.Security.Cryptography;
using System.Text;

namespace Garnet.Server.Rights;

/// <summary>
/// All users of a server. Whoever changes them raises <see cref="Changes"/>: those who keep something derived from rights compare it.
///
/// rights.R2  There is always a default user, and it is always the same object: connections that have said nothing are this one.
/// rights.R3  Users are changed under the lock, one change after the other; a change that has an error in it changes nothing.
/// </summary>
internal sealed class Users
{
    /// <summary>Bytes of a user's name at most: names are kept in the log of refusals and in every line of CLIENT LIST.</summary>
    internal const int NameBytesMax = 1024;

    internal const string DefaultName = "default";

    private readonly Lock _gate = new();
    private readonly RuleTerms _terms;
    private readonly Func<string> _password;
    private Dictionary<string, User> _users = new(StringComparer.Ordinal);
    private long _changes, _edits;

    /// <param name="terms">What rules are judged by.</param>
    /// <param name="password">The password of the default user where nothing else says one; empty for none.</param>
    internal Users(RuleTerms terms, Func<string> password)
    {
        (_terms, _password) = (terms, password);
        Default = new User(DefaultName, NewDefault());
        _users.Add(DefaultName, Default);
    }

    /// <summary>Who connections are until they say something else.</summary>
    internal User Default { get; }

    /// <summary>True if a new connection needs no password.</summary>
    internal bool IsOpen => Default.Rights.IsOpen;

    /// <summary>How often something was changed.</summary>
    internal long Changes => Volatile.Read(ref _changes);

    /// <summary>The same without those that put others in place of all (<see cref="Replace"/>).</summary>
    internal long Edits => Volatile.Read(ref _edits);

    /// <summary>True if something else stands here than on a new server, but for a password of the default user.</summary>
    internal bool AreDefined
    {
        get
        {
            lock (_gate)
                return _users.Count > 1 || !Default.Rights.AllowsEverything || Default.Rights.Selectors.Length > 1 || !Default.Rights.IsOn;
        }
    }

    /// <summary>All users, by name, with the rights of one moment.</summary>
    internal List<NamedRights> All()
    {
        List<NamedRights> all;
        lock (_gate)
            all = [.. _users.Values.Select(static user => new NamedRights(user.Name, user.Rights))];
        all.Sort(static (a, b) => string.CompareOrdinal(a.Name, b.Name));
        return all;
    }

    /// <summary>The user of that name; null if there is none.</summary>
    internal User? Find(string name)
    {
        lock (_gate)
            return _users.GetValueOrDefault(name);
    }

    /// <summary>Applies rules to a user, who is made if there is none. Null, or the rule that is wrong and why: then nothing has changed.</summary>
    internal (string Rule, RuleError Error)? Set(string name, IEnumerable<string> rules)
    {
        lock (_gate)
        {
            User? user = _users.GetValueOrDefault(name);
            UserRights rights = user is null ? new UserRights(_terms) : new UserRights(user.Rights);
            foreach (string rule in rules)
            {
                RuleError error = rights.Apply(rule);
                if (error != RuleError.None)
                    return (rule, error);
            }

            if (user is null)
                _users.Add(name, new User(name, rights));
            else
                user.Rights = rights;
            CountEdit();
            return null;
        }
    }

    /// <summary>Gives the default user another password, or none at all (<c>requirepass</c>).</summary>
    internal void SetDefaultPassword() => Set(DefaultName, PasswordRules());

    /// <summary>Removes a user; false if there is none such. The default one stays.</summary>
    internal bool Remove(string name)
    {
        lock (_gate)
        {
            if (name == DefaultName || !_users.Remove(name, out User? user))
                return false;
            user.IsGone = true;
            CountEdit();
            return true;
        }
    }

    /// <summary>Puts these in place of all there are. Who is still there keeps his connections, with the rights that he has now.</summary>
    internal void Replace(IReadOnlyDictionary<string, UserRights> rights)
    {
        lock (_gate)
        {
            var users = new Dictionary<string, User>(StringComparer.Ordinal) { [DefaultName] = Default };
            Default.Rights = rights.GetValueOrDefault(DefaultName) ?? NewDefault();
            foreach ((string name, UserRights its) in rights)
            {
                User user = users.GetValueOrDefault(name) ?? _users.GetValueOrDefault(name) ?? new User(name, its);
                user.Rights = its;
                users[name] = user;
            }

            foreach ((string name, User user) in _users)
                user.IsGone = !users.ContainsKey(name);
            _users = users;
            Interlocked.Increment(ref _changes);
        }
    }

    /// <summary>Those of a user that a file begins.</summary>
    internal UserRights NewRights() => new(_terms);

    /// <summary>Who says so with that password; null for a wrong name or password, or a user that is off. All of these take the same time.</summary>
    internal User? Authenticate(ReadOnlySpan<byte> name, ReadOnlySpan<byte> password)
    {
        Span<byte> hash = stackalloc byte[PasswordHash.Bytes];
        SHA256.HashData(password, hash);
        User? user = name.Length > NameBytesMax ? null : Find(RuleText.Of(name));
        UserRights rights = (user ?? Default).Rights;
        bool takes = rights.Takes(hash);
        return user is not null & takes & rights.IsOn ? user : null;
    }

    private void CountEdit()
    {
        Interlocked.Increment(ref _edits);
        Interlocked.Increment(ref _changes);
    }

    private UserRights NewDefault()
    {
        var rights = new UserRights(_terms);
        foreach (string rule in (ReadOnlySpan<string>)["on", "+@all", "~*", "&*", .. PasswordRules()])
            rights.Apply(rule);
        return rights;
    }

    private string[] PasswordRules() => _password() is { Length: > 0 } text
        ? ["resetpass", ">" + RuleText.Of(Encoding.UTF8.GetBytes(text))]
        : ["nopass"];
}
