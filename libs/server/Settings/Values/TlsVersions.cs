using Garnet.Common;

namespace Garnet.Server;

/// <summary>The versions of TLS that may be spoken (<c>tls-protocols</c>).</summary>
public sealed class TlsVersions : ISettingValue
{
    private static readonly string[] s_names = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

    private readonly bool[] _allowed;

    private TlsVersions(bool[] allowed, string text) => (_allowed, Text) = (allowed, text);

    /// <summary>1.2 and 1.3: those before are broken.</summary>
    public static TlsVersions Default { get; } = new([false, false, true, true], "");

    /// <inheritdoc/>
    public string Text { get; }

    /// <inheritdoc/>
    public bool LinesAdd => false;

    /// <inheritdoc/>
    public string Wanted => string.Join(", ", s_names);

    /// <summary>True if TLS 1.<paramref name="minor"/> may be spoken.</summary>
    public bool Allows(int minor) => _allowed[minor];

    /// <inheritdoc/>
    public ISettingValue? Parse(string text, out string error)
    {
        error = "";
        string[] words = SettingText.Words(text);
        if (words.Length == 0)
            return Default;
        bool[] allowed = new bool[s_names.Length];
        foreach (string word in words)
        {
            int minor = Array.FindIndex(s_names, name => name.Equals(word, StringComparison.OrdinalIgnoreCase));
            if (minor < 0)
            {
                error = $"argument must be a list of {Wanted}";
                return null;
            }

            allowed[minor] = true;
        }

        return new TlsVersions(allowed, text);
    }
}
