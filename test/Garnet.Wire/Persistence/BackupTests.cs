using System.Diagnostics;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Rdb;
using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>The program takes a backup, and the program restores it: a server that starts there has what the first one had.</summary>
[Parallelizable] // its servers are its own
internal sealed class BackupTests
{
    private static readonly int[] Sizes = [1, 5, 600];
    private DirectoryInfo _folder = null!;

    private string Out => Path.Combine(_folder.FullName, "out");

    private string Key => Path.Combine(_folder.FullName, "key");

    [SetUp]
    public void MakeFolder()
    {
        _folder = Directory.CreateTempSubdirectory("garnet-backups-");
        Directory.CreateDirectory(Out);
        File.WriteAllText(Key, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n");
    }

    [TearDown]
    public void RemoveFolder() => _folder.Delete(recursive: true);

    [Test]
    public void A_server_that_starts_on_what_was_restored_has_all_of_it([Values] bool isEncrypted)
    {
        string backup, digest;
        using (var server = new DataServer($"--backup-path {Out}{(isEncrypted ? $" --backup-key-file {Key}" : "")}"))
        using (RespConnection ours = server.Connect())
        {
            Fill(ours);
            backup = Taken(ours);
            digest = DigestOf(ours);
            ours.Call("SET", "later", "v");
            Assert.That(DigestOf(ours), Is.Not.EqualTo(digest), "the digest tells");
        }

        string directory = Path.Combine(_folder.FullName, "restored"), key = isEncrypted ? $" --key-file {Key}" : "";
        Assert.That(Restore($"{backup} --dir {directory} --dry-run{key}").Code, Is.Zero);
        Assert.That(Directory.Exists(directory), Is.False);
        (int code, string said) = Restore($"{backup} --dir {directory}{key}");
        Assert.That((code, said), Is.EqualTo((0, said)));
        for (int start = 0; start < 2; start++) // the second one goes on from what the first one has kept
        {
            using ServerProcess again = ServerProcess.TryStartOurs($"--appendonly yes --dir {directory}") ?? throw new IgnoreException("our server is not built");
            using RespConnection copy = new(again.Address);
            Assert.That(DigestOf(copy), Is.EqualTo(digest), $"start {start}");
            Assert.That(copy.Call("FCALL", "twice", "0", "21").ToString(), Is.EqualTo(":42"));
            copy.Send("SHUTDOWN\r\n"u8);
            again.WaitForExit();
        }

        Assert.That(Restore($"{backup} --dir {directory}{key}").Code, Is.EqualTo(65), "there are data now");
    }

    [Test]
    public void A_restore_with_the_old_settings_makes_what_a_server_with_them_starts_with()
    {
        string backup, digest;
        using (var server = new DataServer($"--backup-path {Out}"))
        using (RespConnection ours = server.Connect())
        {
            Fill(ours);
            backup = Taken(ours);
            digest = DigestOf(ours);
        }

        string directory = Path.Combine(_folder.FullName, "restored"), file = Path.Combine(_folder.FullName, "old.conf");
        File.WriteAllText(file, $"dir {directory}\ndbfilename prod.rdb\nappenddirname prodlog\n");
        (int code, string said) = Restore($"{backup} {file}");
        Assert.That((code, File.Exists(Path.Combine(directory, "prod.rdb"))), Is.EqualTo((0, true)), said);
        using (ServerProcess again = ServerProcess.TryStartOurs("--appendonly yes", file: file) ?? throw new IgnoreException("our server is not built"))
        using (RespConnection copy = new(again.Address))
            Assert.That(DigestOf(copy), Is.EqualTo(digest));
        Assert.That(Restore($"{backup} --dir {directory}") is { Code: 65 } other && other.Said.Contains("prodlog", StringComparison.Ordinal), Is.True, "whatever settings are named");
    }

    [Test]
    public void What_cannot_be_restored_is_told_and_nothing_is_written()
    {
        string backup;
        using (var server = new DataServer($"--backup-path {Out} --backup-key-file {Key}"))
        using (RespConnection ours = server.Connect())
        {
            Fill(ours);
            backup = Taken(ours);
        }

        byte[] bytes = File.ReadAllBytes(backup);
        string cut = Path.Combine(_folder.FullName, "cut"), flipped = Path.Combine(_folder.FullName, "flipped"), foreign = Path.Combine(_folder.FullName, "foreign");
        string wrong = Path.Combine(_folder.FullName, "wrong"), directory = Path.Combine(_folder.FullName, "restored");
        File.WriteAllBytes(cut, bytes[..^1]);
        File.WriteAllBytes(flipped, [.. bytes[..500], (byte)(bytes[500] ^ 1), .. bytes[501..]]);
        File.WriteAllText(foreign, new string('x', 1000));
        File.WriteAllBytes(wrong, new byte[32]);
        (string Words, int Code, string Why)[] cases =
        [
            ($"{cut} --key-file {Key}", 65, "does not end as a backup does"), ($"{flipped} --key-file {Key}", 65, "its checksum is wrong"),
            ($"{foreign} --key-file {Key}", 65, "does not begin as a backup does"), ($"{backup} --key-file {wrong}", 65, "the key is not the one"),
            (backup, 65, "no key was given"), ($"{backup} --key-file {foreign}", 64, "has no key for backups"), ($"{Out}/none", 65, "cannot be read"),
            ($"{backup} --foo", 64, "foo: there is no such setting"), ("", 64, "it takes one backup"),
        ];
        foreach ((string words, int code, string why) in cases)
        {
            (int ended, string said) = Restore($"{words} --dir {directory}");
            Assert.That((ended, said.Contains(why, StringComparison.Ordinal)), Is.EqualTo((code, true)), $"{words}: {said}");
            Assert.That(Directory.Exists(directory), Is.False, words);
        }

        Assert.That(Restore($"{backup} --key-file {Key}") is { Code: 64 } without && without.Said.Contains("it needs a directory", StringComparison.Ordinal), Is.True);
        Assert.That(Restore($"{backup} --key-file {Key} --dry-run").Code, Is.Zero, "it only looks");
    }

    private static void Fill(RespConnection to)
    {
        foreach ((string kind, int size) in Values.Kinds.SelectMany(static kind => Sizes.Select(size => (kind, size))))
        {
            to.Call("SELECT", $"{size % 3}");
            Values.Fill(to, $"{kind} {size}", kind, size);
        }

        to.Call("SELECT", "0");
        to.Call("PEXPIREAT", "hash 600", "4000000000000");
        to.Call("ZPEXPIREAT", "sorted set 600", "4000000000000", "MEMBERS", "1", "member 7");
        to.Call("HPEXPIREAT", "hash 600", "4000000000000", "FIELDS", "1", "field 7");
        to.Call("SETWITHETAG", "tagged", "v");
        to.Call("FUNCTION", "LOAD", "#!lua name=sums\nredis.register_function('twice', function(keys, args) return args[1] * 2 end)");
    }

    private string Taken(RespConnection to)
    {
        Assert.That(to.Call("BACKUP", "NOW").Text, Is.EqualTo("Background backup started"));
        Eventually.Holds(() => to.Call("INFO", "persistence").Text.Contains("garnet_backups:1\r\n", StringComparison.Ordinal));
        return Directory.GetFiles(Out).Single();
    }

    // The sums of the shares, without the name of the moment.
    private static string DigestOf(RespConnection side) => string.Join(' ', side.Call("REPL", "DIGEST").Items!.Skip(2).Select(static item => item.ToString()));

    private (int Code, string Said) Restore(string words)
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        using Process restore = Process.Start(new ProcessStartInfo(ServerProcess.OurProgram, $"restore {words}")
        {
            RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = _folder.FullName,
        })!;
        Task<string> errors = restore.StandardError.ReadToEndAsync();
        string said = restore.StandardOutput.ReadToEnd();
        restore.WaitForExit();
        return (restore.ExitCode, said + errors.InTime());
    }
}
