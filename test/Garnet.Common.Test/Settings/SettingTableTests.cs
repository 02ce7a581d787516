namespace Garnet.Common.Test.Settings;

public sealed class SettingTableTests
{
    private SampleSettings _sample = null!;
    private SettingTable _table = null!;

    [SetUp]
    public void SetUp()
    {
        _sample = new SampleSettings();
        _table = new SettingTable();
        _table.Add(_sample);
    }

    [TestCase("count", "x", "ERR CONFIG SET failed (possibly related to argument 'count') - argument couldn't be parsed into an integer")]
    [TestCase("count", "101", "ERR CONFIG SET failed (possibly related to argument 'count') - argument must be between 0 and 100 inclusive")]
    [TestCase("memory", "1x", "ERR CONFIG SET failed (possibly related to argument 'memory') - argument must be a memory value")]
    [TestCase("switch", "maybe", "ERR CONFIG SET failed (possibly related to argument 'switch') - argument must be 'yes' or 'no'")]
    [TestCase("day", "x", "ERR CONFIG SET failed (possibly related to argument 'day') - argument(s) must be one of the following: work-day, rest-day")]
    [TestCase("fixed", "y", "ERR CONFIG SET failed (possibly related to argument 'fixed') - can't set immutable config")]
    [TestCase("guarded", "y", "ERR CONFIG SET failed (possibly related to argument 'guarded') - can't set protected config")]
    [TestCase("only", "yes", "ERR CONFIG SET failed (possibly related to argument 'only') - argument must be 'no': not built")]
    [TestCase("nothing", "1", "ERR Unknown option or number of arguments for CONFIG SET - 'nothing'")]
    public void A_refusal_has_the_words_of_redis(string name, string value, string expected)
    {
        Assert.That(_table.TrySet(name, value, allowProtected: false, out string error), Is.False);
        Assert.That(error, Is.EqualTo(expected));
    }

    [Test]
    public void A_set_changes_property_text_and_source()
    {
        Assert.That(_table.TrySet([new("COUNT", "8"), new("memory", "1kb"), new("day", "Rest-Day")], false, out _), Is.True);
        Assert.That((_sample.Count, _sample.Memory, _sample.Day), Is.EqualTo((8, 1024L, SampleDay.RestDay)));
        Assert.That(_table.TryFind("number", out Setting? setting), Is.True);
        Assert.That((setting!.Text, setting.Default, setting.Source), Is.EqualTo(("8", "7", SettingSource.ConfigSet)));
    }

    [Test]
    public void A_protected_setting_opens_when_allowed()
    {
        Assert.That(_table.TrySet("guarded", "y", allowProtected: true, out _), Is.True);
        Assert.That(_sample.Guarded, Is.EqualTo("y"));
    }

    [Test]
    public void One_bad_value_leaves_all_as_they_were()
    {
        Assert.That(_table.TrySet([new("count", "8"), new("memory", "x")], false, out _), Is.False);
        Assert.That(_sample.Count, Is.EqualTo(7));
        Assert.That(_table.All[0].Source, Is.EqualTo(SettingSource.Default));
    }

    [Test]
    public void The_same_setting_twice_is_refused_by_any_name()
    {
        Assert.That(_table.TrySet([new("count", "8"), new("number", "9")], false, out string error), Is.False);
        Assert.That(error, Does.EndWith("(possibly related to argument 'number') - duplicate parameter"));
    }

    [Test]
    public void An_owner_that_cannot_apply_undoes_the_set_and_hears_of_it()
    {
        var heard = new List<string>();
        _table.OnSet("count", () => { heard.Add($"count {_sample.Count}"); return null; });
        _table.OnSet("memory", () => { heard.Add($"memory {_sample.Memory}"); return _sample.Memory > 5000 ? "too much" : null; });
        Assert.That(_table.TrySet([new("count", "8"), new("memory", "6000")], false, out string error), Is.False);
        Assert.That(error, Is.EqualTo("ERR CONFIG SET failed (possibly related to argument 'memory') - too much"));
        Assert.That(heard, Is.EqualTo(new[] { "count 8", "memory 6000", "count 7", "memory 1024" }));
    }

    /// <summary>What it would do may not be undone: keys that were evicted, lines that were dropped.</summary>
    [Test]
    public void An_owner_that_can_use_every_value_hears_of_a_set_once_nobody_has_refused_it()
    {
        var heard = new List<string>();
        _table.OnSet("count", () => heard.Add($"count {_sample.Count}"));
        _table.OnSet(["count", "switch"], () => heard.Add("either"));
        _table.OnSet("memory", () => _sample.Memory > 5000 ? "too much" : null);
        Assert.That(_table.TrySet([new("count", "8"), new("memory", "6000")], false, out _), Is.False);
        Assert.That(_table.TrySet([new("count", "8"), new("memory", "x")], false, out _), Is.False);
        Assert.That(heard, Is.Empty);
        Assert.That(_table.TrySet([new("count", "8"), new("memory", "4000")], false, out _), Is.True);
        Assert.That(heard, Is.EqualTo(new[] { "count 8", "either" }));
    }

    [Test]
    public void Get_lists_names_in_order_with_aliases_and_without_hidden_ones()
    {
        Assert.That(_table.Get("*").Select(static pair => pair.Key),
            Is.EqualTo(new[] { "count", "day", "fixed", "guarded", "memory", "number", "only", "secret", "switch", "words" }));
        Assert.That(_table.Get("hidden").Single().Value, Is.EqualTo("h"));
        Assert.That(_table.Get("MEM*").Single(), Is.EqualTo(new KeyValuePair<string, string>("memory", "1024")));
        Assert.That(_table.Get("nothing"), Is.Empty);
    }

    [Test]
    public void A_secret_is_never_printed()
    {
        Assert.That(_table.Get("secret").Single().Value, Is.Empty);
        Assert.That(_table.TrySet("secret", "hunter2", false, out _), Is.True);
        Assert.That(_table.Get("secret").Single().Value, Is.EqualTo("(redacted)"));
        Assert.That(_sample.Secret, Is.EqualTo("hunter2"));
    }

    [Test]
    public void A_kept_setting_needs_no_property()
    {
        _table.AddKept(new SettingAttribute("kept", "Kept.") { Live = true }, SettingKind.YesNo, false);
        Assert.That(_table.TrySet("kept", "yes", false, out _), Is.True);
        Assert.That(_table.Get("kept").Single().Value, Is.EqualTo("yes"));
    }
}
