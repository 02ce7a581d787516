using System.Globalization;
using Garnet.Aof;
using Garnet.Common.Linux;
using Garnet.Replication;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>
/// The history that this server's data are a moment of: its names and its terms, and which term comes next. It is written on the role's thread
/// and on that of the link to a primary, which runs within.
/// </summary>
/// <param name="termOnDisk">The term in which this server's directory was led last; 0 = nobody has led here yet.</param>
internal sealed class NodeHistory(Func<uint> termOnDisk)
{
    private uint _elsewhere; // of a primary that took over from this server, or that it met, before anything written in it came here

    private const string NoId = "0000000000000000000000000000000000000000"; // as many digits as NewId has

    /// <summary>Name of this run of the server, 40 hexadecimal digits.</summary>
    internal string RunId { get; } = NewId();

    /// <summary>Name of the history.</summary>
    internal string Id { get; private set; } = NewId();

    /// <summary>The history before the last promotion.</summary>
    internal string IdBefore { get; private set; } = NoId;

    /// <summary>Where each term begins.</summary>
    internal Terms Terms { get; } = new();

    /// <summary>The term this server leads in, or led in last.</summary>
    internal uint LedTerm { get; set; } = 1;

    /// <summary>Who this server is in the terms it begins.</summary>
    internal uint Owner => Terms.OwnerBy(RunId);

    /// <summary>The term of a server that starts as a primary (replication.Z8, in Promotion).</summary>
    internal uint TermOfStart => Terms.AfterStart(termOnDisk());

    /// <summary>The term after one that ended in <paramref name="ended"/>: of the same primary, which leads on, or of the next.</summary>
    internal uint NextTerm(uint ended, bool leadsOn)
    {
        uint last = Math.Max(Math.Max(ended, LedTerm), Math.Max(termOnDisk(), _elsewhere));
        return leadsOn ? Terms.AfterStart(last) : Terms.AfterPromotion(last);
    }

    /// <summary>Somebody else leads in this term, or may.</summary>
    internal void Meet(uint term) => _elsewhere = Math.Max(_elsewhere, term);

    /// <summary>The history is a primary's from here on.</summary>
    internal void Take(PlanFrame plan)
    {
        Id = plan.HistoryId;
        Terms.Take(plan.Terms);
    }

    /// <summary>What is written from here on is a history of its own.</summary>
    internal void Rename() => (IdBefore, Id) = (Id, NewId());

    /// <summary>
    /// This server begins to lead, in the term of <paramref name="start"/>. Where there is nothing to go on from, the chain begins with a number
    /// of its own: two empty histories are not one.
    /// </summary>
    internal AofStart Begin(AofStart start)
    {
        if (start.LastTerm == 0)
        {
            uint[] chain = [.. start.LastHeaderCrcs.Select(static _ => BitConverter.ToUInt32(Libc.RandomBytes(sizeof(uint))))];
            start = start with { LastHeaderCrcs = chain, LastTerm = start.Term };
        }

        LedTerm = start.Term;
        Terms.Add(new TermStart(start.Term, start.LastBatch + 1, start.LastTerm) { Owner = Owner });
        return start with { Owner = Owner };
    }

    // 40 hexadecimal digits. Convert's way to them is vector code, which would be compiled at every start.
    private static string NewId()
    {
        ReadOnlySpan<byte> random = Libc.RandomBytes(20);
        (ulong first, ulong second) = (BitConverter.ToUInt64(random), BitConverter.ToUInt64(random[8..]));
        return string.Create(CultureInfo.InvariantCulture, $"{first:x16}{second:x16}{BitConverter.ToUInt32(random[16..]):x8}");
    }
}
