using System.Diagnostics;
using Garnet.Common.Test;
using Garnet.Common;
using Garnet.Server.Rights;

namespace Garnet.Server.Test.Rights;

/// <summary>The ACL file and the users of a configuration file: all of it or nothing, at the start and later.</summary>
public sealed class AclFileTests
{
    private const int WaitMs = 60_000;

    private string _file = "";

    [SetUp]
    public void SetUp() => _file = Path.Combine(Path.GetTempPath(), $"garnet-acl-{Guid.NewGuid():n}");

    [TearDown]
    public void TearDown() => File.Delete(_file);

    [Test]
    public void What_is_saved_is_there_again_after_a_restart()
    {
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\n");
        string wanted;
        using (EmbeddedServer server = Started())
        using (var client = new TestClient(server.Server.Port))
        {
            client.Call("ACL", "SETUSER", "ann", "on", ">pw", "~a*", "+@read", "(+set ~b)", "db=1");
            Assert.That(client.Call("ACL", "SAVE"), Is.EqualTo("OK"));
            wanted = client.Call("ACL", "LIST");
        }

        if (!OperatingSystem.IsWindows())
            Assert.That(Directory.GetFiles(Path.GetTempPath(), Path.GetFileName(_file) + "*"), Has.Length.EqualTo(1), "nothing is left beside it");
        using EmbeddedServer again = Started();
        using var other = new TestClient(again.Server.Port);
        Assert.That(other.Call("ACL", "LIST"), Is.EqualTo(wanted));
        Assert.That(other.Call("AUTH", "ann", "pw"), Is.EqualTo("OK"));
    }

    [Test]
    public void A_load_closes_only_those_whose_user_or_channel_is_gone()
    {
        File.WriteAllText(_file, "user ann on nopass +@all ~* &*\nuser bob on nopass +@all ~* &*\nuser cat on nopass +@all ~* &*\n");
        using EmbeddedServer server = Started();
        using TestClient admin = new(server.Server.Port), ann = As(server, "ann"), bob = As(server, "bob"), cat = As(server, "cat");
        cat.Call("SUBSCRIBE", "c");
        File.WriteAllText(_file, "user ann on nopass +@all -get ~* &*\nuser cat on nopass +@all ~*\n");
        Assert.That(admin.Call("ACL", "LOAD"), Is.EqualTo("OK"));
        Assert.That(ann.Call("GET", "a"), Does.StartWith("NOPERM"), "judged by the new rules");
        Assert.That(() => bob.Call("PING"), Throws.InstanceOf<IOException>());
        Assert.That(() => cat.Read(), Throws.InstanceOf<IOException>());
    }

    [Test]
    public void A_file_with_a_mistake_changes_nothing()
    {
        File.WriteAllText(_file, "user ann on nopass +@all\n");
        using EmbeddedServer server = Started();
        using TestClient admin = new(server.Server.Port), ann = As(server, "ann");
        File.WriteAllText(_file, "user bob on nopass +@all\nuser ann +nosuch\nuser >secret bogus\n");
        Assert.That(admin.Call("ACL", "LOAD"), Does.StartWith($"ERR {_file}:2: Error in applying operation '+nosuch'").And.Contain($"{_file}:3: Syntax error"));
        File.WriteAllText(_file, "user ann (+get\nuser bob (+get\n");
        Assert.That(admin.Call("ACL", "LOAD"), Is.EqualTo($"ERR {_file}:1: Unmatched parenthesis in selector definition. {_file}:2: Unmatched parenthesis in "
            + "selector definition. WARNING: ACL errors detected, no change to the previously active ACL rules was performed"));
        Assert.That(admin.Call("ACL", "USERS"), Is.EqualTo("[ann default]"));
        Assert.That(ann.Call("ACL", "WHOAMI"), Is.EqualTo("ann"));
        File.Delete(_file);
        Assert.That(admin.Call("ACL", "LOAD"), Is.EqualTo($"ERR Error loading ACLs, opening file '{_file}': No such file or directory"));
    }

    [Test]
    public void A_start_names_the_line_and_the_user_of_each_mistake_and_shows_no_password()
    {
        File.WriteAllText(_file, "user ann on nopass +@all\nuser bob +nosuch\n\nuser cat >secret bogus\nnobody\n");
        GarnetException refused = Assert.Throws<GarnetException>(() => Started())!;
        Assert.That(refused.Why, Does.Contain($"user 'bob': {_file}:2: Error in applying operation '+nosuch'").And.Contain($"user 'cat': {_file}:4: Syntax error")
            .And.Contain($"\n  {_file}:5 should start with user keyword").And.Not.Contain("secret").And.Not.Contain("ann"));
    }

    [Test]
    public void Saves_and_loads_of_many_clients_at_once_leave_a_whole_file()
    {
        const int Clients = 4, Rounds = 20;
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\nuser ann on nopass +@all\n");
        using EmbeddedServer server = Started();
        TestThread[] threads = TestThread.Begin(Clients, number =>
        {
            using var client = new TestClient(server.Server.Port);
            for (int i = 0; i < Rounds; i++) Assert.That(client.Call("ACL", (i + number) % 2 == 0 ? "SAVE" : "LOAD"), Is.EqualTo("OK"));
        });
        foreach (TestThread thread in threads) thread.Await();
        Assert.That(File.ReadAllText(_file), Does.Contain("user ann on nopass").And.Contain("user default on"));
    }

    [Test]
    public void What_is_saved_last_stays_in_the_file()
    {
        const int Savers = 60, Users = 3_000;
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\nuser gone on\n"
            + string.Concat(Enumerable.Range(0, Users).Select(static i => $"user u{i} on nopass ~k{i} +@read\n")));
        using EmbeddedServer server = Started();
        using TestClient late = new(server.Server.Port);
        TestClient[] early = [.. Enumerable.Range(0, Savers).Select(_ => new TestClient(server.Server.Port))];
        foreach (TestClient client in early) client.Send("ACL", "SAVE");
        Assert.That((late.Call("ACL", "DELUSER", "gone"), late.Call("ACL", "SAVE")), Is.EqualTo(("1", "OK")));
        Assert.That(File.ReadAllText(_file), Does.Not.Contain("gone"));
        foreach (TestClient client in early) Assert.That(client.Read(), Is.EqualTo("OK"));
        Assert.That(File.ReadAllText(_file), Does.Not.Contain("gone"), "it is written as the users are when it is written");
        foreach (TestClient client in early) client.Dispose();
    }

    [Test]
    public void Who_asks_for_what_nobody_has_begun_gets_the_same()
    {
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\n");
        using EmbeddedServer server = Started();
        AclFileQueue queue = server.Server.Context.Rights.File;
        Task<bool>[] saves = [.. Enumerable.Range(0, 1000).Select(_ => queue.Write(_file))];
        Task<AclReading>[] loads = [.. Enumerable.Range(0, 1000).Select(_ => queue.Read(_file))];
        Assert.That(Task.WaitAll([.. saves, .. loads], WaitMs));
        Assert.That(saves.Distinct().Count() + loads.Distinct().Count(), Is.LessThan(100));
    }

    [Test]
    public void A_file_that_could_not_be_read_again_is_not_written()
    {
        const int Patterns = 7, Bytes = 10_000_000;
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\n");
        using EmbeddedServer server = Started();
        using TestClient admin = new(server.Server.Port);
        string pattern = "~" + new string('x', Bytes);
        for (int i = 0; i < Patterns; i++) Assert.That(admin.Call("ACL", "SETUSER", $"big{i}", pattern), Is.EqualTo("OK"));
        Assert.That(admin.Call("ACL", "SAVE"), Does.StartWith("ERR There was an error trying to save the ACLs"));
        Assert.That(File.ReadAllText(_file), Is.EqualTo("user default on nopass ~* &* +@all\n"));
    }

    [Test]
    public void A_load_takes_nothing_back_that_was_changed_meanwhile()
    {
        const int Users = 3_000;
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\nuser gone on nopass\n"
            + string.Concat(Enumerable.Range(0, Users).Select(static i => $"user u{i} on nopass ~k{i} +@read\n")));
        using EmbeddedServer server = Started();
        using TestClient early = new(server.Server.Port), late = new(server.Server.Port);
        AclFileQueue queue = server.Server.Context.Rights.File;
        long before = queue.Readings;
        early.Send("ACL", "LOAD");
        Eventually.Holds(() => queue.Readings > before);
        late.Call("ACL", "DELUSER", "gone");
        string saved = late.Call("ACL", "SAVE"), loaded = early.Read();
        Assert.That((saved, loaded, late.Call("ACL", "GETUSER", "gone"), late.Call("ACL", "LOAD"), late.Call("ACL", "GETUSER", "gone")),
            Is.EqualTo(("OK", "OK", "nil", "OK", "nil")));
    }

    [Test]
    public void A_reading_that_is_taken_is_no_change_for_those_behind_it()
    {
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\nuser ann on nopass\n");
        using EmbeddedServer server = Started();
        (AclFileQueue queue, Users users) = (server.Server.Context.Rights.File, server.Server.Context.Rights.Users);
        AclReading first = queue.Read(_file).InTime(), second = queue.Read(_file).InTime(), third = queue.Read(_file).InTime();
        users.Replace(first.Users);
        Assert.That(queue.IsOfNow(second), "it was read later");
        users.Set("bob", ["on"]);
        Assert.That(queue.IsOfNow(third), Is.False, "bob would be taken back");
    }

    [Test]
    public void A_reading_that_comes_behind_a_later_one_takes_nothing_back_and_is_done()
    {
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\nuser ann on nopass\n");
        using EmbeddedServer server = Started();
        AclFileQueue queue = server.Server.Context.Rights.File;
        AclReading first = queue.Read(_file).InTime(), second = queue.Read(_file).InTime();
        Assert.That((queue.IsDone(first), queue.IsDone(second)), Is.EqualTo((false, false)));
        queue.Take(second);
        Assert.That((queue.IsDone(first), queue.IsDone(second)), Is.EqualTo((true, true)));
        Assert.That(queue.IsDone(queue.Read(_file).InTime()), Is.False);
    }

    [Test]
    public void All_who_could_not_take_a_reading_share_the_next()
    {
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\n");
        using EmbeddedServer server = Started();
        AclFileQueue queue = server.Server.Context.Rights.File;
        AclReading stale = queue.Read(_file).InTime(), next = queue.ReadAgain(stale, _file).InTime();
        Assert.That((queue.ReadAgain(stale, _file).InTime(), next.Number), Is.EqualTo((next, stale.Number + 1)));
    }

    [Test]
    public void Loads_of_many_clients_at_once_are_all_right_and_read_the_file_few_times()
    {
        const int Loaders = 60, Users = 3_000, ReadingsMax = 10;
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\n" + string.Concat(Enumerable.Range(0, Users).Select(static i => $"user u{i} on nopass ~k{i} +@read\n")));
        using EmbeddedServer server = Started();
        TestClient[] clients = [.. Enumerable.Range(0, Loaders).Select(_ => new TestClient(server.Server.Port))];
        foreach (TestClient client in clients) client.Send("ACL", "LOAD");
        foreach (TestClient client in clients) Assert.That(client.Read(), Is.EqualTo("OK"));
        Assert.That(server.Server.Context.Rights.File.Read(_file).InTime().Number, Is.LessThan(ReadingsMax));
        foreach (TestClient client in clients) client.Dispose();
    }

    [Test]
    public void What_is_written_are_the_users_of_one_moment()
    {
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\nuser ann on\nuser bob on\n");
        using EmbeddedServer server = Started();
        Users users = server.Server.Context.Rights.Users;
        var all = users.All();
        foreach (string name in (string[])["ann", "bob"]) users.Set(name, ["off"]);
        Assert.That(AclFile.Write(all), Does.Contain("user ann on").And.Contain("user bob on"));
    }

    [Test]
    public void Of_many_mistakes_some_are_told()
    {
        File.WriteAllText(_file, "user default on nopass ~* &* +@all\n");
        using EmbeddedServer server = Started();
        using TestClient admin = new(server.Server.Port);
        File.WriteAllText(_file, string.Concat(Enumerable.Repeat("x\n", 100_000)));
        string lines = admin.Call("ACL", "LOAD");
        Assert.That(lines, Does.Contain($"{_file}:100 should start").And.Contain($"{_file}:101: this and what is wrong behind it is not told"));
        Assert.That(lines, Does.Not.Contain($"{_file}:102"));
        File.WriteAllText(_file, "user a " + string.Concat(Enumerable.Repeat("+nosuch ", 100_000)));
        Assert.That(admin.Call("ACL", "LOAD").Length, Is.InRange(1000, 10_000));
    }

    [Test]
    public void The_password_of_the_settings_holds_where_the_file_says_nothing_of_the_default_user()
    {
        File.WriteAllText(_file, "user ann on nopass +@all\n");
        var lines = new RecordedLines();
        using EmbeddedServer server = Started(lines, "geheim");
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("GET", "a"), Does.StartWith("NOAUTH"));
        Assert.That(client.Call("AUTH", "geheim"), Is.EqualTo("OK"));
        Assert.That(client.Call("ACL", "LOAD"), Is.EqualTo("OK"));
        Assert.That(client.Call("ACL", "GETUSER", "default"), Does.Contain("on").And.Not.Contain("nopass"));
        Assert.That(lines.All, Has.None.Contains("requirepass"));
        File.WriteAllText(_file, "user default on >other ~* +@all\n");
        Assert.That(client.Call("ACL", "LOAD"), Is.EqualTo("OK"));
        Assert.That(client.Call("AUTH", "geheim"), Does.StartWith("WRONGPASS"));
        Assert.That(lines.All, Has.Exactly(1).Contains("requirepass has no effect"));
    }

    [Test]
    public void A_file_that_makes_the_password_of_the_settings_void_is_told_at_the_start()
    {
        File.WriteAllText(_file, "user default on nopass ~* +@all\n");
        var lines = new RecordedLines();
        using EmbeddedServer server = Started(lines, "geheim");
        Assert.That(lines.All, Has.Exactly(1).Contains("requirepass has no effect"));
    }

    [Test]
    public void A_line_of_the_configuration_file_that_makes_the_password_of_the_settings_void_is_told_at_the_start()
    {
        Assert.That(Said(["default", "on", "nopass", "~*", "+@all"]), Has.Exactly(1).Contains("requirepass has no effect: garnet.conf:7 says who user default is"));
        Assert.That(Said(["default", "on", ">geheim", "~*", "+@all"]), Has.None.Contains("requirepass"), "both say the same");
        Assert.That(Said(["ann", "on", "nopass", "~*", "+@all"]), Has.None.Contains("requirepass"), "it is about another user");

        static IEnumerable<string> Said(string[] words)
        {
            var lines = new RecordedLines();
            using var server = new EmbeddedServer(lines: lines, adjust: settings =>
            {
                settings.Security.Password = "geheim";
                settings.Security.Users.Add(new UserLine("garnet.conf:7", words));
            });
            return [.. lines.All];
        }
    }

    [Test]
    public void A_command_that_waits_for_the_disk_and_runs_again_counts_once()
    {
        File.WriteAllText(_file, "user ann on nopass +@all\n");
        using EmbeddedServer server = Started();
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 10; i++) Assert.That(client.Call("ACL", "LOAD"), Is.EqualTo("OK"));
        Assert.That(client.Call("CLIENT", "INFO"), Does.Contain(" tot-cmds=11"));
        Assert.That(client.Call("INFO", "commandstats"), Does.Contain("cmdstat_acl|load:calls=10,"));
    }

    [Test]
    public void A_new_file_is_its_owners_and_another_keeps_its_rights()
    {
        if (OperatingSystem.IsWindows())
        {
            Assert.Ignore("files have other rights there");
            return;
        }

        const UnixFileMode Owner = UnixFileMode.UserRead | UnixFileMode.UserWrite, Shared = Owner | UnixFileMode.GroupRead;
        File.WriteAllText(_file, "user ann on nopass +@all\n");
        using EmbeddedServer server = Started();
        using var client = new TestClient(server.Server.Port);
        File.Delete(_file);
        Assert.That(client.Call("ACL", "SAVE"), Is.EqualTo("OK"));
        Assert.That(File.GetUnixFileMode(_file), Is.EqualTo(Owner));
        File.SetUnixFileMode(_file, Shared);
        Assert.That(client.Call("ACL", "SAVE"), Is.EqualTo("OK"));
        Assert.That(File.GetUnixFileMode(_file), Is.EqualTo(Shared));
    }

    [Test]
    public void A_file_of_more_than_64_MiB_is_not_read()
    {
        File.WriteAllText(_file, "user ann on nopass +@all\n");
        using EmbeddedServer server = Started();
        using var client = new TestClient(server.Server.Port);
        using (FileStream file = File.OpenWrite(_file)) file.SetLength((64 << 20) + 1);
        Assert.That(client.Call("ACL", "LOAD"), Does.StartWith("ERR Error loading ACLs").And.Contain("more than 67108864 bytes"));
    }

    [Test]
    public void What_is_no_file_is_refused_and_waited_for_by_nobody()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("pipes with names are made by mkfifo");
        File.WriteAllText(_file, "user ann on nopass +@all\n");
        using EmbeddedServer server = Started();
        using var admin = new TestClient(server.Server.Port);
        File.Delete(_file);
        using (Process pipe = Process.Start("mkfifo", _file)) pipe.WaitForExit();
        Assert.That(admin.Call("ACL", "LOAD"), Does.StartWith("ERR Error loading ACLs").And.Contain("not a file"));
        Assert.That(admin.Call("ACL", "USERS"), Is.EqualTo("[ann default]"));
        GarnetException refused = Assert.Throws<GarnetException>(() => Started().Dispose())!;
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Configuration));
    }

    [TestCase("user ann +nosuch\n")]
    [TestCase("nonsense\n")]
    [TestCase("user ann ~* ~b\n")]
    [TestCase("user ann #12\n")]
    [TestCase("user ann <none\n")]
    [TestCase("user ann +select|a|b\n")]
    [TestCase("user ann on\nuser ann off\n")]
    public void A_server_does_not_start_with_a_file_that_has_a_mistake(string text)
    {
        File.WriteAllText(_file, text);
        GarnetException refused = Assert.Throws<GarnetException>(() => Started().Dispose())!;
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Configuration));
    }

    [Test]
    public void A_server_does_not_start_without_its_file_or_with_users_in_two_places()
    {
        Assert.Throws<GarnetException>(() => Started().Dispose());
        File.WriteAllText(_file, "");
        Assert.Throws<GarnetException>(() => Started(new UserLine("f:1", ["ann", "on"])).Dispose());
    }

    [Test]
    public void Users_of_a_configuration_are_there_at_the_start()
    {
        using var server = new EmbeddedServer(adjust: static settings =>
        {
            settings.Security.Password = "pw";
            settings.Security.Users.Add(new UserLine("f:1", ["ann", "on", "nopass", "+@all", "(~a", "+get)"]));
        });
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("PING"), Does.StartWith("NOAUTH"));
        Assert.That(client.Call("AUTH", "ann", "x"), Is.EqualTo("OK"));
        Assert.That(client.Call("ACL", "GETUSER", "ann"), Does.Contain("selectors [[commands -@all +get keys ~a channels ]]"));
        Assert.That(server.Server.UserLines!.Select(static words => string.Join(' ', words)), Has.Member("user ann on nopass resetchannels +@all (~a resetchannels -@all +get)"));
    }

    [Test]
    public void Wrong_users_of_a_configuration_are_told_with_their_lines_and_without_passwords()
    {
        var settings = new ServerSettings();
        settings.Security.Users.Add(new UserLine("f:1", ["ann", "+nosuch"]));
        settings.Security.Users.Add(new UserLine("f:2", ["bob", "#secret"]));
        settings.Security.Users.Add(new UserLine("f:3", ["bob"]));
        settings.Security.Users.Add(new UserLine("f:4", ["cat", "(+get"]));
        IReadOnlyList<string> problems = ConfiguredUsers.ProblemsOf(settings);
        Assert.That(problems, Has.Count.EqualTo(4));
        Assert.That(string.Concat(problems), Does.Not.Contain("secret").And.Contain("f:1: user: Error in user declaration '+nosuch'").And.Contain("f:3"));
    }

    private EmbeddedServer Started(params UserLine[] lines) => new(adjust: settings =>
    {
        settings.Security.AclFile = _file;
        settings.Security.Users.AddRange(lines);
    });

    private EmbeddedServer Started(RecordedLines lines, string password) => new(lines: lines, adjust: settings =>
    {
        settings.Security.AclFile = _file;
        settings.Security.Password = password;
    });

    private static TestClient As(EmbeddedServer server, string user)
    {
        var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("AUTH", user, "x"), Is.EqualTo("OK"));
        return client;
    }
}
