using System.Text;
using Garnet.Common;
using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>The users of the server, what commands need of their rights, and who was refused.</summary>
internal sealed class ServerRights
{
    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly SecuritySettings _settings;
    private string _password; // what the default user was made with, or given last

    /// <exception cref="Garnet.Common.GarnetException">The users to start with are not right.</exception>
    internal ServerRights(ServerSettings settings, SettingTable table, IReadOnlyList<CommandSpec> specs)
    {
        _settings = settings.Security;
        Needs = new RightsNeeds(specs);
        Users = NewUsers(settings, specs);
        File = new AclFileQueue(Users);
        Denials = new DenialLog(() => _settings.AclLogEntriesMax);
        _password = _settings.Password;
        StartingUsers.Take(_settings, Users);
        table.OnSet("requirepass", TakePassword);
        table.OnSet("acllog-max-len", Denials.Trim);
    }

    internal Users Users { get; }

    internal RightsNeeds Needs { get; }

    internal DenialLog Denials { get; }

    /// <summary>What is done to the ACL file.</summary>
    internal AclFileQueue File { get; }

    /// <summary>The default user alone.</summary>
    internal static Users NewUsers(ServerSettings settings, IReadOnlyList<CommandSpec> specs) =>
        new(new RuleTerms(
            RightsNeeds.Named(specs), settings.Memory.Databases, () => settings.Security.PubSubDefault == PubSubDefault.AllChannels),
            () => settings.Security.Password);

    /// <summary>The users as a configuration file has them; null if it has none: there is a file of their own, or they are as on a new server.</summary>
    /// <exception cref="IOException">What one of them may do cannot be written there.</exception>
    internal IReadOnlyList<IReadOnlyList<string>>? Lines()
    {
        bool areWritten = _settings.AclFile.Length == 0 && (Users.AreDefined || _settings.Users.Count > 0);
        return areWritten ? Users.All().ConvertAll(WordsOf) : null;
    }

    private static IReadOnlyList<string> WordsOf(NamedRights user)
    {
        try
        {
            return Strict.GetString(RuleText.Bytes(user.ToString())).Split(' ');
        }
        catch (DecoderFallbackException)
        {
            throw new IOException($"the name or a rule of the user '{user.Name}' is not UTF-8, as that file is: keep users in an aclfile");
        }
    }

    /// <summary>
    /// What makes <c>requirepass</c> void: the ACL file or the line of the configuration file that says who the default user is; null if nothing
    /// does.
    /// </summary>
    internal string? VoidsPassword
    {
        get
        {
            if (_settings.Password.Length == 0 || IsPasswordOfDefault(_settings.Password))
                return null;
            if (_settings.AclFile.Length > 0)
                return _settings.AclFile;
            return _settings.Users.Find(static line => line.Words is [Users.DefaultName, ..])?.Where;
        }
    }

    private bool IsPasswordOfDefault(string password) =>
        Users.Default.Rights.Passwords.Contains(PasswordHash.Of(Encoding.UTF8.GetBytes(password)));

    private void TakePassword()
    {
        string password = _settings.Password;
        if (password == _password)
            return;
        Users.SetDefaultPassword();
        _password = password;
    }
}
