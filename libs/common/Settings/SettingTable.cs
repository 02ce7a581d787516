using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Garnet.Common;

/// <summary>
/// Every setting of the process, by name. Owners declare settings as properties with <see cref="SettingAttribute"/>; the
/// table reads the declarations once, sets the properties and tells owners about live changes.
/// common.S1: a set of several settings is applied whole or not at all. common.S2: a value that was refused leaves no trace, its
/// source included. common.S3: apply callbacks run under the table's lock, one set at a time, in the order given.
/// </summary>
public sealed class SettingTable
{
    private readonly Dictionary<string, Setting> _byName = new(256, StringComparer.OrdinalIgnoreCase);
    private readonly List<Setting> _all = new(256);
    private readonly Lock _gate = new();
    private string[]? _names;

    /// <summary>All settings in order of declaration, each once.</summary>
    public IReadOnlyList<Setting> All => _all;

    /// <summary>Collects the settings that <paramref name="owner"/> declares.</summary>
    public void Add(ISettings owner) => owner.Declare(this);

    /// <summary>Adds one of them: <paramref name="number"/> is its number in the class, <paramref name="type"/> the property's.</summary>
    public void Add(SettingAttribute declared, Type type, ISettings owner, int number) => Add(new Setting(declared, type, owner, number));

    /// <summary>Adds a setting that no property holds: the table keeps its value.</summary>
    public void AddKept(SettingAttribute declared, SettingKind kind, object value) => Add(new Setting(declared, kind, value));

    public bool TryFind(string name, [NotNullWhen(true)] out Setting? setting) => _byName.TryGetValue(name, out setting);

    /// <summary>
    /// Has <paramref name="apply"/> run after each CONFIG SET of the setting, with the property already changed. It
    /// returns null, or the reason why the value cannot be used; then the whole set is undone and it runs again. Several owners may ask.
    /// </summary>
    public void OnSet(string name, Func<string?> apply)
    {
        Setting setting = _byName[name];
        Func<string?>? before = setting.TryApply;
        setting.TryApply = before is null ? apply : () => before() ?? apply();
    }

    /// <summary>The same for each of several.</summary>
    public void OnSet(string[] names, Func<string?> apply)
    {
        foreach (string name in names)
            OnSet(name, apply);
    }

    /// <summary>The same for an owner who can use every value: it runs once nobody has refused any of the set, so that what it does need not be undone.</summary>
    public void OnSet(string name, Action apply) => _byName[name].Apply += apply;

    /// <summary>The same for each of several.</summary>
    public void OnSet(string[] names, Action apply)
    {
        foreach (string name in names)
            OnSet(name, apply);
    }

    /// <summary>
    /// Names and values for CONFIG GET, aliases included, each once: in the order of the patterns, and in order of name where a pattern has several.
    /// What has been found is not looked for again.
    /// </summary>
    public List<KeyValuePair<string, string>> Get(params IReadOnlyList<string> patterns)
    {
        List<string> found = Find(patterns);
        lock (_gate) return [.. found.Select(name => new KeyValuePair<string, string>(name, _byName[name].Text))];
    }

    private List<string> Find(IReadOnlyList<string> patterns)
    {
        List<(string Name, byte[] Bytes)>? left = null; // with the first pattern: most ask for one setting by its name
        var found = new List<string>();
        var known = new HashSet<string>(StringComparer.Ordinal);
        foreach (string pattern in patterns)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(pattern);
            if (!Glob.IsPattern(bytes))
            {
                if (_byName.ContainsKey(pattern) && pattern.ToLowerInvariant() is var name && known.Add(name))
                    found.Add(name);
                continue;
            }
            left ??= [.. Names().Where(name => !_byName[name].Declared.Hidden).Select(static name => (name, Encoding.UTF8.GetBytes(name)))];
            if (left.Count == 0)
                continue;
            var glob = new Glob(bytes, ignoreCase: true);
            byte last = LastOf(bytes);
            left.RemoveAll(one =>
            {
                if ((last != 0 && one.Bytes[^1] != last) || !glob.Matches(one.Bytes))
                    return false;
                if (known.Add(one.Name))
                    found.Add(one.Name);
                return true;
            });
        }
        return found;
    }

    // The letter that a match must end with, 0 if that may be any: nearly all of a hundred thousand patterns are told apart by it.
    private static byte LastOf(ReadOnlySpan<byte> pattern)
    {
        bool isAny = pattern.IndexOf((byte)'[') >= 0 || pattern[^1] is (byte)'*' or (byte)'?' or (byte)'\\';
        return isAny ? (byte)0 : (byte)char.ToLowerInvariant((char)pattern[^1]);
    }

    /// <summary>Sets one value before the server runs. Null if it was taken, else the bare reason.</summary>
    public string? SetAtStart(string name, string text, SettingSource source, string where)
    {
        if (!_byName.TryGetValue(name, out Setting? setting))
            return "there is no such setting";
        lock (_gate) return setting.Set(text, source, where);
    }

    /// <summary>CONFIG SET of one setting. <paramref name="error"/> is the reply's text, without a leading dash.</summary>
    public bool TrySet(string name, string value, bool allowProtected, out string error)
        => TrySet([new(name, value)], allowProtected, out error);

    /// <summary>CONFIG SET: all of the values or none (common.S1).</summary>
    public bool TrySet(IReadOnlyList<KeyValuePair<string, string>> values, bool allowProtected, out string error)
    {
        lock (_gate)
        {
            if (!TryResolve(values, allowProtected, out Setting[] settings, out error))
                return false;
            var saved = new (object?, SettingSource, string)[settings.Length];
            for (int i = 0; i < settings.Length; i++) saved[i] = settings[i].Save();
            int failed = SetAll(settings, values, out int applied, out error);
            if (failed < 0)
            {
                foreach (Setting setting in settings) setting.Apply?.Invoke();
                return true;
            }
            for (int i = 0; i < settings.Length; i++) settings[i].Restore(saved[i]);
            for (int i = 0; i < applied; i++) settings[i].TryApply?.Invoke();
            error = Failed(values[failed].Key, error);
            return false;
        }
    }

    private static bool IsOpen(Setting setting, bool allowProtected, out string reason)
    {
        reason = setting.Declared.Live ? "can't set protected config" : "can't set immutable config";
        return setting.Declared.Live && (allowProtected || !setting.Declared.Protected);
    }

    private bool TryResolve(
        IReadOnlyList<KeyValuePair<string, string>> values, bool allowProtected, out Setting[] settings, out string error)
    {
        settings = new Setting[values.Count];
        for (int i = 0; i < settings.Length; i++)
        {
            string name = values[i].Key;
            if (!_byName.TryGetValue(name, out Setting? setting))
            {
                error = $"ERR Unknown option or number of arguments for CONFIG SET - '{name}'";
                return false;
            }
            string reason = "duplicate parameter";
            if (Array.IndexOf(settings, setting, 0, i) >= 0 || !IsOpen(setting, allowProtected, out reason))
            {
                error = Failed(name, reason);
                return false;
            }
            settings[i] = setting;
        }
        error = "";
        return true;
    }

    /// <summary>-1 if every value was set and nobody refused it, else the index of the one that failed.</summary>
    private static int SetAll(
        Setting[] settings, IReadOnlyList<KeyValuePair<string, string>> values, out int applied, out string error)
    {
        applied = 0;
        error = "";
        for (int i = 0; i < settings.Length; i++)
        {
            string? refusal = settings[i].Set(values[i].Value, SettingSource.ConfigSet, "CONFIG SET");
            if (refusal is null)
                continue;
            error = refusal;
            return i;
        }
        for (; applied < settings.Length; applied++)
        {
            string? refusal = settings[applied].TryApply?.Invoke();
            if (refusal is null)
                continue;
            error = refusal;
            return applied++;
        }
        return -1;
    }

    private static string Failed(string name, string reason)
        => $"ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}";

    private void Add(Setting setting)
    {
        _byName.Add(setting.Name, setting);
        foreach (string alias in SettingText.Words(setting.Declared.Aliases)) _byName.Add(alias, setting);
        _all.Add(setting);
        _names = null;
    }

    private string[] Names()
    {
        lock (_gate)
        {
            if (_names is not null)
                return _names;
            var names = new string[_byName.Count];
            _byName.Keys.CopyTo(names, 0);
            Array.Sort(names, StringComparer.Ordinal);
            return _names = names;
        }
    }
}
