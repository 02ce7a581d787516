using System.Collections;
using Garnet.Common;
using Garnet.Server;

namespace Garnet.Host.Test;

public sealed class SettingSourcesTests
{
    private ServerSettings _settings = null!;
    private SettingSources _sources = null!;
    private SettingTable _table = null!;

    [SetUp]
    public void SetUp()
    {
        _settings = new ServerSettings();
        _table = new SettingTable();
        _settings.Register(_table);
        _sources = new SettingSources(_settings, _table);
    }

    [Test]
    public void Whatever_is_set_beside_a_value_that_is_refused_is_taken_back()
    {
        Assert.Multiple(() =>
        {
            foreach (Setting one in _table.All.Where(static one => one.Declared.Live && one.Name != "timeout"))
            {
                string before = one.FileText;
                bool isTaken = _table.TrySet([new(one.Name, before), new("timeout", "x")], allowProtected: true, out string error);
                Assert.That((isTaken, one.FileText), Is.EqualTo((false, before)), one.Name);
                Assert.That(error, Does.Contain("'timeout'"), one.Name);
            }
        });
    }

    [Test]
    public void The_command_line_wins_over_the_environment_and_that_over_the_file()
    {
        using var folder = new TestFolder();
        _sources.AddFile(folder.Write("c", "port 1\nmaxmemory 1mb\ntimeout 5\n"));
        _sources.AddEnvironment(new Hashtable { ["GARNET_PORT"] = "2", ["GARNET_MAXMEMORY"] = "2mb" });
        _sources.AddCommandLine([new("port", ["3"])]);
        _sources.Finish();
        Assert.That((_settings.Network.Port, _settings.Memory.MaxMemoryBytes, _settings.Network.TimeoutSeconds), Is.EqualTo((3, 2L << 20, 5)));
    }

    [Test]
    public void Users_are_taken_from_the_file_and_judged_with_all_other_problems()
    {
        using var folder = new TestFolder();
        string file = folder.Write("c", "user ann on >pw +@all (~a +get)\nuser bob +nosuch >hidden\nport 70000\n");
        _sources.AddFile(file);
        GarnetException refused = Assert.Throws<GarnetException>(_sources.Finish)!;
        Assert.That(refused.Why, Does.Contain($"{file}:2: user: ").And.Contain("+nosuch").And.Contain($"{file}:3: port").And.Not.Contain("hidden"));
        Assert.That(_settings.Security.Users[0].Words, Is.EqualTo(new[] { "ann", "on", ">pw", "+@all", "(~a", "+get)" }));
    }

    [Test]
    public void A_missing_include_is_named_with_its_place_and_hides_no_other_problem()
    {
        using var folder = new TestFolder();
        string file = folder.Write("c", "maxmemroy 1gb\ninclude nowhere.conf\nport 70000\n");
        _sources.AddFile(file);
        GarnetException refused = Assert.Throws<GarnetException>(_sources.Finish)!;
        Assert.That(refused.Why, Does.Contain($"{file}:1: maxmemroy").And.Contain($"{file}:2: include 'nowhere.conf': ").And.Contain($"{file}:3: port '70000'"));
    }

    [Test]
    public void All_problems_are_named_at_once_with_place_value_and_range()
    {
        using var folder = new TestFolder();
        string file = folder.Write("c", "\nport 70000\nmaxmemroy 1gb\nrename-command A B\nrequirepass a b\n");
        _sources.AddFile(file);
        _sources.AddCommandLine([new("cluster-enabled", ["yes"])]);
        GarnetException refused = Assert.Throws<GarnetException>(_sources.Finish)!;
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Configuration));
        Assert.That(refused.Why, Does.Contain($"{file}:2: port '70000': argument must be between 0 and 65535 inclusive\n"));
        Assert.That(refused.Why, Does.Contain($"{file}:3: maxmemroy: there is no such setting (did you mean 'maxmemory'?)"));
        Assert.That(refused.Why, Does.Contain($"{file}:4: rename-command: commands cannot be renamed"));
        Assert.That(refused.Why, Does.Contain($"{file}:5: requirepass: wrong number of arguments"));
        Assert.That(refused.Why, Does.Contain("command line: cluster-enabled 'yes': argument must be 'no': there is no cluster mode yet"));
    }

    [TestCase("appendfsync", "foo", "argument(s) must be one of the following: everysec, always, no")]
    [TestCase("appendonly", "maybe", "argument must be 'yes' or 'no'")]
    [TestCase("port", "70000", "argument must be between 0 and 65535 inclusive")]
    [TestCase("port", "x", "argument couldn't be parsed into an integer (allowed: 0 to 65535)")]
    [TestCase("save", "1 2 3", "Invalid save parameters (allowed: pairs of seconds (1 or more) and changes, such as 900 1 300 10)")]
    public void What_is_wanted_is_said_once(string name, string value, string said)
    {
        _sources.AddCommandLine([new(name, [value])]);
        Assert.That(Assert.Throws<GarnetException>(_sources.Finish)!.Why, Is.EqualTo($"\n  command line: {name} '{value}': {said}"));
    }

    [Test]
    public void A_directory_is_the_same_wherever_it_is_read()
    {
        _sources.AddCommandLine([new("dir", ["data"])]);
        _sources.Finish();
        Assert.That(_settings.Persistence.Directory, Is.EqualTo(Path.Combine(Environment.CurrentDirectory, "data")));
        Assert.That(_table.Get("dir").Single().Value, Is.EqualTo(_settings.Persistence.Directory), "CONFIG GET, and what CONFIG REWRITE writes");
    }

    [Test]
    public void Save_lines_of_one_file_add_up_and_the_command_line_replaces_them()
    {
        using var folder = new TestFolder();
        _sources.AddFile(folder.Write("c", "save 900 1\nsave 300 10\n"));
        Assert.That(_settings.Persistence.Save.Text, Is.EqualTo("900 1 300 10"));
        _sources.AddCommandLine([new("save", [""])]);
        Assert.That(_settings.Persistence.Save.Text, Is.Empty);
    }

    [Test]
    public void Variables_of_an_orchestrator_are_not_settings()
    {
        _sources.AddEnvironment(new Hashtable { ["GARNET_PORT"] = "tcp://10.0.0.1:6379", ["GARNET_SERVICE_HOST"] = "x", ["GARNET_NONE"] = "1" });
        _sources.Finish();
        Assert.That(_settings.Network.Port, Is.EqualTo(6379));
        Assert.That(_sources.Notices.Single(), Does.Contain("GARNET_NONE"));
    }

    [TestCase("GARNET_MAXMEMROY", " (did you mean GARNET_MAXMEMORY?)")]
    [TestCase("GARNET_MAX_CLIENTS", " (did you mean GARNET_MAXCLIENTS?)")]
    [TestCase("GARNET_REQUIREPAS_FILE", " (did you mean GARNET_REQUIREPASS_FILE?)")]
    [TestCase("GARNET_SOMETHING_ELSE", "")]
    public void A_variable_that_is_nearly_a_setting_is_asked_about(string variable, string asked)
    {
        _sources.AddEnvironment(new Hashtable { [variable] = "1" });
        Assert.That(_sources.Notices.Single(), Is.EqualTo($"The environment variable {variable} names no setting{asked} and is ignored."));
    }

    [Test]
    public void A_secret_may_come_from_a_file_and_is_in_no_message()
    {
        using var folder = new TestFolder();
        _sources.AddEnvironment(new Hashtable { ["GARNET_REQUIREPASS_FILE"] = folder.Write("p", "hunter2\n") });
        Assert.That(_settings.Security.Password, Is.EqualTo("hunter2"));
        _sources.AddCommandLine([new("requirepass", ["hunter2\n"])]);
        Assert.That(Assert.Throws<GarnetException>(_sources.Finish)!.Message, Does.Not.Contain("hunter2"));
    }

    [TestCase("appendonly no\ndir /var/lib/redis\n", "3600 1 300 100 60 10000", "snapshots are taken as redis takes them by default")]
    [TestCase("appendonly no\n", "", "nothing is kept")]
    [TestCase("appendonly no\ndir /var/lib/redis\nsave 10 1\n", "10 1", null)]
    [TestCase("appendonly no\ndir /var/lib/redis\nsave \"\"\n", "", null)]
    [TestCase("dir /var/lib/redis\n", "", null)]
    public void A_file_of_redis_that_switches_the_append_only_file_off_keeps_what_it_keeps_in_redis(string file, string save, string? notice)
    {
        using var folder = new TestFolder();
        _sources.AddFile(folder.Write("redis.conf", file));
        _sources.Finish();
        Assert.That(_settings.Persistence.Save.Text, Is.EqualTo(save));
        Assert.That(_sources.Notices, notice is null ? Is.Empty : Has.One.Contains(notice));
    }

    [Test]
    public void Daemonize_in_a_file_is_noted_and_no_refusal()
    {
        using var folder = new TestFolder();
        _sources.AddFile(folder.Write("redis.conf", "daemonize yes\n"));
        _sources.Finish();
        Assert.That(_sources.Notices.Single(), Does.Contain("daemonize").And.Contain("stays in the foreground"));
    }

    [TestCase("tier-size", "1gb", "there is no tier on a disk without tier-path")]
    [TestCase("tier-pm-size", "1gb", "there is no tier in persistent memory without tier-pm-path")]
    [TestCase("tier-pm-path", "/not/there", "names no directory on this machine")]
    [TestCase("tier-promotion", "no", "there is no tier without tier-path")]
    [TestCase("pm-emulated-trust", "yes", "there is no persistent memory without aof-pm-path")]
    [TestCase("tier-path", "/not/there", "names no directory on this machine")]
    [TestCase("backup-every", "60", "there are no backups without backup-path")]
    [TestCase("backup-keep", "3", "there are no backups without backup-path")]
    [TestCase("backup-key-file", "/k", "there are no backups without backup-path")]
    [TestCase("aof-pm-path", "/not/there", "there is no log without dir")]
    public void What_has_no_effect_for_want_of_another_setting_is_noted(string name, string value, string notice)
    {
        _sources.AddCommandLine([new(name, [value])]);
        _sources.Finish();
        Assert.That(_sources.Notices.Single(), Does.StartWith(name + " (command line) ").And.Contain(notice));
    }

    [TestCase(null, ExpectedResult = 0)]
    [TestCase("yes", ExpectedResult = 0)]
    [TestCase("no", ExpectedResult = 1)]
    public int Persistent_memory_under_a_log_that_is_kept_is_not_said_to_be_without_effect(string? appendOnly)
    {
        using var folder = new TestFolder();
        List<KeyValuePair<string, string[]>> settings = [new("dir", ["."]), new("aof-pm-path", [folder.Write("ring", "")])];
        if (appendOnly is not null)
            settings.Add(new("appendonly", [appendOnly]));
        _sources.AddCommandLine(settings);
        _sources.Finish();
        return _sources.Notices.Count(static notice => notice.StartsWith("aof-pm-path", StringComparison.Ordinal));
    }

    [TestCase("command line: port '7201 my.conf': wrong number of arguments: it takes one; a configuration file goes first", "--port", "7201", "my.conf")]
    [TestCase("'foo' is taken for the configuration file, and 'nonsense' is no setting: one file is named, first, and settings follow it as --NAME VALUE", "foo", "nonsense")]
    [TestCase("'foo' is taken for the configuration file, and 'prt' is no setting (did you mean 'port'?)", "foo", "prt", "7201")]
    [TestCase("command line: prt: there is no such setting (did you mean 'port'?)", "foo", "--prt", "7201")]
    public void What_the_command_line_was_understood_as_is_said_with_what_is_wrong(string said, params string[] words)
    {
        CommandLine line = CommandLine.Parse(words);
        _sources.AddCommandLine(line.Settings, line.ConfigFile, line.BareName);
        Assert.That(_sources.Finish, Throws.InstanceOf<GarnetException>().With.Message.Contain(said));
    }

    [Test]
    public void A_setting_may_follow_the_file_without_dashes()
    {
        CommandLine line = CommandLine.Parse(["foo", "port", "7201"]);
        _sources.AddCommandLine(line.Settings, line.ConfigFile, line.BareName);
        _sources.Finish();
        Assert.That(_settings.Network.Port, Is.EqualTo(7201));
    }

    [Test]
    public void An_empty_directory_is_refused()
    {
        _sources.AddCommandLine([new("dir", [""])]);
        Assert.That(() => _sources.Finish(), Throws.InstanceOf<GarnetException>().With.Message.Contain("dir is empty"));
    }

    [Test]
    public void A_setting_without_effect_is_noted()
    {
        _sources.AddCommandLine([new("activedefrag", ["yes"]), new("io-threads", ["1"])]);
        _sources.Finish();
        Assert.That(_sources.Notices.Single(), Does.StartWith("activedefrag (command line) has no effect:"));
    }

    [TestCase("client-output-buffer-limit", "normal 1mb 2 3", "normal 1048576 2 3 slave 268435456 67108864 60 pubsub 33554432 8388608 60")]
    [TestCase("notify-keyspace-events", "eKEx", "xeKE")]
    [TestCase("notify-keyspace-events", "Kx", "xK")]
    [TestCase("notify-keyspace-events", "mnE$", "$nEm")]
    [TestCase("notify-keyspace-events", "Kg$lshzxetdmE", "AKEm")]
    [TestCase("notify-keyspace-events", "nAE", "AnE")]
    [TestCase("maxmemory-clients", "50%", "50%")]
    [TestCase("latency-tracking-info-percentiles", "50 60.123", "50 60.123")]
    [TestCase("bulk-providers", "local,net", "local net")]
    [TestCase("bulk-providers", "", "")]
    [TestCase("maxmemory-policy", "ALLKEYS-LRU", "allkeys-lru")]
    [TestCase("bind", "* -::*", "* -::*")]
    [TestCase("unixsocketperm", "0770", "770")]
    public void A_value_prints_as_in_redis(string name, string value, string expected)
    {
        Assert.That(_table.SetAtStart(name, value, SettingSource.CommandLine, ""), Is.Null);
        Assert.That(_table.Get(name).Single().Value, Is.EqualTo(expected));
    }

    [TestCase("save", "1 2 3", "Invalid save parameters")]
    [TestCase("client-output-buffer-limit", "normal 1 2", "Wrong number of arguments in buffer limit configuration.")]
    [TestCase("client-output-buffer-limit", "foo 1 2 3", "Invalid client class specified in buffer limit configuration.")]
    [TestCase("client-output-buffer-limit", "slave 1 2 -3", "Error in hard, soft or soft_seconds setting in buffer limit configuration.")]
    [TestCase("notify-keyspace-events", "KEAq", "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")]
    [TestCase("maxmemory-clients", "150%", "percentage argument must be less or equal to 100")]
    [TestCase("latency-tracking-info-percentiles", "50 200", "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")]
    [TestCase("latency-tracking-info-percentiles", "a", "Invalid latency-tracking-info-percentiles parameters")]
    [TestCase("bulk-providers", "local tcp", "'tcp' is no provider; there are local, net, verbs")]
    public void A_refusal_has_the_words_of_redis(string name, string value, string expected)
        => Assert.That(_table.SetAtStart(name, value, SettingSource.CommandLine, ""), Is.EqualTo(expected));
}
