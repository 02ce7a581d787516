namespace Garnet.Common;

/// <summary>One setting: its declaration, its value and where the value came from. Changed through the table only.</summary>
public sealed class Setting
{
    private const string Redacted = "(redacted)";

    private readonly ISettings? _owner;
    private readonly int _number;
    private readonly Type? _type;
    private readonly string[] _values;
    private object? _kept;
    private string? _default;

    internal Setting(SettingAttribute declared, Type type, ISettings owner, int number)
    {
        (Declared, _type, _owner, _number) = (declared, type, owner, number);
        _values = SettingText.Words(declared.Values);
        Kind = KindOf(type, _values.Length > 0);
    }

    internal Setting(SettingAttribute declared, SettingKind kind, object value)
    {
        (Declared, Kind, _kept) = (declared, kind, value);
        _values = SettingText.Words(declared.Values);
    }

    public SettingAttribute Declared { get; }
    public string Name => Declared.Name;
    public SettingKind Kind { get; }
    public SettingSource Source { get; private set; }
    /// <summary>File and line, variable or option that set the value; empty for a default.</summary>
    public string Where { get; private set; } = "";
    /// <summary>The value as CONFIG GET prints it; a placeholder for a secret.</summary>
    public string Text => Declared.Secret && PlainText.Length > 0 ? Redacted : PlainText;
    /// <summary>The value as a configuration file holds it: a secret stands there in full, so it is not for people's eyes.</summary>
    public string FileText => PlainText;
    /// <summary>The value the setting was born with.</summary>
    public string Default => _default ?? PlainText;
    /// <summary>Takes several words on one line, as <c>save</c> and <c>bind</c> do.</summary>
    public bool TakesWords => Kind == SettingKind.Words || (Kind == SettingKind.Custom && Value is ISettingValue);

    /// <summary>The allowed values for an error message or the reference page; empty if anything goes.</summary>
    public string Range => Kind switch
    {
        SettingKind.YesNo => "yes, no",
        SettingKind.Choice => string.Join(", ", _values),
        SettingKind.Number when Declared.Min != long.MinValue && Declared.Max == long.MaxValue
            => $"{SettingText.PrintNumber(Declared.Min, Declared.Unit)} or more",
        SettingKind.Number when Declared.Min != long.MinValue || Declared.Max != long.MaxValue
            => $"{SettingText.PrintNumber(Declared.Min, Declared.Unit)} to {SettingText.PrintNumber(Declared.Max, Declared.Unit)}",
        SettingKind.Custom => ((ISettingValue)Value!).Wanted,
        _ => "",
    };

    internal string PlainText => Kind switch
    {
        SettingKind.YesNo => SettingText.Print((bool)Value!),
        SettingKind.Number => SettingText.PrintNumber(Value is int small ? small : (long)Value!, Declared.Unit),
        SettingKind.Choice => Spelling(Value!.ToString()!),
        SettingKind.Words => string.Join(' ', (string[])Value!),
        SettingKind.Custom => ((ISettingValue)Value!).Text,
        _ => (string?)Value ?? "",
    };

    internal object? Value
    {
        get => _owner is null ? _kept : _owner.Get(_number);
        private set
        {
            if (_owner is null)
                _kept = value;
            else _owner.Set(_number, value);
        }
    }

    /// <summary>Owners that may refuse a value: null, or the reason.</summary>
    internal Func<string?>? TryApply { get; set; }

    /// <summary>Owners that can use every value.</summary>
    internal Action? Apply { get; set; }

    /// <summary>Null if the text was taken, else the sentence that says why not.</summary>
    internal string? Set(string text, SettingSource source, string where)
    {
        if (Kind == SettingKind.Custom && source == SettingSource.File && Source == SettingSource.File)
            text = Joined(text);
        string? refusal = Read(text, out object? value);
        if (refusal is not null)
            return refusal;
        _default ??= PlainText;
        (object? before, Value) = (Value, value);
        if (Declared.Only is not null && !PlainText.Equals(Declared.Only, StringComparison.Ordinal))
        {
            Value = before;
            return $"argument must be '{Declared.Only}': {Declared.Why}";
        }
        (Source, Where) = (source, where);
        return null;
    }

    internal (object? Value, SettingSource Source, string Where) Save() => (Value, Source, Where);

    internal void Restore((object? Value, SettingSource Source, string Where) saved) => (Value, Source, Where) = saved;

    private string Joined(string text) => ((ISettingValue)Value!).LinesAdd && text.Length > 0 ? $"{PlainText} {text}" : text;

    private string? Read(string text, out object? value)
    {
        value = text;
        switch (Kind)
        {
            case SettingKind.YesNo:
                if (!SettingText.TryYesNo(text, out bool yes))
                    return SettingText.NotYesNo;
                value = yes;
                return null;
            case SettingKind.Number:
                string? refusal = SettingText.TryNumber(text, Declared, out long number);
                value = _type == typeof(int) ? (object)(int)Math.Clamp(number, int.MinValue, int.MaxValue) : number;
                return refusal;
            case SettingKind.Choice:
                return ReadChoice(text, out value);
            case SettingKind.Words:
                value = SettingText.Words(text);
                return null;
            case SettingKind.Custom:
                value = ((ISettingValue)Value!).Parse(text, out string error);
                return value is null ? error : null;
            default:
                return text.AsSpan().ContainsAny('\0', '\n') ? "argument must not contain line breaks or zero bytes" : null;
        }
    }

    private string? ReadChoice(string text, out object? value)
    {
        value = text;
        foreach (string spelling in _values)
        {
            if (!spelling.Equals(text, StringComparison.OrdinalIgnoreCase))
                continue;
            value = _type is { IsEnum: true } ? MemberOf(_type, spelling) : spelling;
            return null;
        }
        return $"argument(s) must be one of the following: {string.Join(", ", _values)}";
    }

    private static object MemberOf(Type choice, string spelling)
        => Enum.Parse(choice, spelling.Replace("-", "", StringComparison.Ordinal), ignoreCase: true);

    private string Spelling(string member)
    {
        foreach (string spelling in _values)
            if (spelling.Replace("-", "", StringComparison.Ordinal).Equals(member, StringComparison.OrdinalIgnoreCase))
                return spelling;
        return member;
    }

    private static SettingKind KindOf(Type type, bool hasValues)
    {
        if (type == typeof(bool))
            return SettingKind.YesNo;
        if (type == typeof(int) || type == typeof(long))
            return SettingKind.Number;
        if (type.IsEnum || (type == typeof(string) && hasValues))
            return SettingKind.Choice;
        if (type == typeof(string))
            return SettingKind.Text;
        if (type == typeof(string[]))
            return SettingKind.Words;
        if (type.IsAssignableTo(typeof(ISettingValue)))
            return SettingKind.Custom;
        throw new NotSupportedException($"a setting cannot be a {type.Name}");
    }
}
