using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Families.Strings;

/// <summary>LCS: the longest common subsequence of two strings.</summary>
internal readonly struct Lcs : ICommand
{
    /// <summary>
    /// Bytes that a table of numbers may take, Redis's measure for what it refuses: 256 MiB, two strings of 8 KiB. Refused before
    /// anything is allocated (CVE-2021-29477); ours has a bit for each number.
    /// </summary>
    private const long TableBytesMax = 256L << 20;

    public static CommandSpec Spec => StringCommands.Spec("LCS", -3, CommandFlags.ReadOnly, KeySpec.Two, "RO ACCESS", "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]", "Finds the longest common subsequence of two strings.") with { Misses = KeyMisses.AllAtOnce, Since = "7.0.0", Complexity = "O(N*M)" };

    public static Reply Run(ref Call call)
    {
        Span<KeyRef> keys = [call.KeyAt(1), call.KeyAt(2)];
        byte[] a = [], b = [];
        bool areStrings = false;
        for (var read = new SnapshotRead(call.Session, keys); read.Next();)
            areStrings = ValueBytes.TryRead(call.Session, in keys[0], out a, read.IsAgain)
                && ValueBytes.TryRead(call.Session, in keys[1], out b, read.IsAgain);
        if (!areStrings)
            return call.FailBytes("ERR The specified keys must contain string values"u8);
        bool len = false, idx = false, withLengths = false;
        long minimum = 0;
        for (int i = 3; i < call.Count; i++)
        {
            if (call.Is(i, "IDX"u8))
                idx = true;
            else if (call.Is(i, "LEN"u8))
                len = true;
            else if (call.Is(i, "WITHMATCHLEN"u8))
                withLengths = true;
            else if (!call.Is(i, "MINMATCHLEN"u8) || i + 1 == call.Count)
                return call.Fail(Fault.Syntax);
            else if (!call.TryInt64(++i, out minimum))
                return call.Fail(Fault.NotAnInteger);
        }

        if (idx && len)
            return call.FailBytes("ERR If you want both the length and indexes, please just use IDX."u8);
        if ((a.Length + 1L) * (b.Length + 1L) * sizeof(int) > TableBytesMax)
            return call.FailBytes("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"u8);
        var table = new LcsTable(a, b, keepsRows: !len);
        if (len)
            return call.Int(table.Length);
        List<Match> matches = Walk(a, b, table, out byte[] common);
        if (!idx)
            return call.Bulk(common);
        WriteMatches(ref call, matches, minimum, withLengths, table.Length);
        return Reply.Sent;
    }

    private readonly record struct Match(int StartA, int EndA, int StartB, int EndB);

    // From the end to the start, as Redis walks: the first match reported is the last in the strings.
    private static List<Match> Walk(byte[] a, byte[] b, LcsTable table, out byte[] common)
    {
        int i = a.Length, j = b.Length, left = table.Length;
        common = new byte[left];
        var matches = new List<Match>();
        Match? open = null;
        while (i > 0 && j > 0)
        {
            if (a[i - 1] == b[j - 1])
            {
                common[--left] = a[i - 1];
                i--;
                j--;
                open = open is { } run && run.StartA == i + 1 && run.StartB == j + 1
                    ? run with { StartA = i, StartB = j }
                    : Begin(matches, open, i, j);
                continue;
            }

            // The bytes differ: if the length is new in this place, it comes from above, and only that way is the longer one.
            if (table.Grows(i, j))
                i--;
            else
                j--;
        }

        if (open is { } last)
            matches.Add(last);
        return matches;
    }

    private static Match Begin(List<Match> matches, Match? closed, int i, int j)
    {
        if (closed is { } done)
            matches.Add(done);
        return new Match(i, i, j, j);
    }

    private static void WriteMatches(ref Call call, List<Match> matches, long minimum, bool withLengths, int length)
    {
        matches.RemoveAll(match => match.EndA - match.StartA + 1 < minimum);
        call.Out.Map(2);
        call.Out.Bulk("matches"u8);
        call.Out.Array(matches.Count);
        foreach (Match match in matches)
        {
            call.Out.Array(withLengths ? 3 : 2);
            call.Out.Array(2);
            call.Out.Int(match.StartA);
            call.Out.Int(match.EndA);
            call.Out.Array(2);
            call.Out.Int(match.StartB);
            call.Out.Int(match.EndB);
            if (withLengths)
                call.Out.Int(match.EndA - match.StartA + 1);
        }

        call.Out.Bulk("len"u8);
        call.Out.Int(length);
    }
}
