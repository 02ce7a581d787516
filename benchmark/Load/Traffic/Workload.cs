using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Garnet.Load.Traffic;

/// <summary>
/// Pre-built request batches. <see cref="Next"/> only writes fresh key digits into one of them, so a request costs a few
/// nanoseconds. In checking mode values carry the digits of their key and the wanted reply bytes are built as well.
/// </summary>
internal sealed unsafe class Workload
{
    private const int KeyDigits = 12;
    private static readonly uint[] FourDigits = BuildDigits();

    private readonly Batch[] _batches;
    private readonly KeyStream _keys;
    private int _valueBytes;
    private int _turn;

    public Workload(string operation, int pipeline, int valueBytes, KeyStream keys, bool check)
        : this(operation, pipeline, [valueBytes], keys, check)
    {
    }

    /// <summary>Values of several sizes, batch by batch in turn.</summary>
    public Workload(string operation, int pipeline, int[] valueSizes, KeyStream keys, bool check)
    {
        Pipeline = pipeline;
        Check = check;
        _keys = keys;
        string[] commands = CommandText.Of(operation);
        _batches = new Batch[(commands.Length == 1 ? 1 : Math.Max(1, 100 / pipeline)) * valueSizes.Length];
        for (int i = _batches.Length - 1; i >= 0; i--)
        {
            _valueBytes = valueSizes[i % valueSizes.Length];
            _batches[i] = Build(commands, i * pipeline);
        }
    }

    public int Pipeline { get; }

    public bool Check { get; }

    public int ValueBytes => _valueBytes;

    /// <summary>The bytes of the next batch, valid until the next call; <paramref name="wanted"/> holds reply bytes in checking mode.</summary>
    public ReadOnlySpan<byte> Next(out ReadOnlySpan<byte> wanted)
    {
        Batch batch = _batches[_turn];
        if (++_turn == _batches.Length) _turn = 0;
        fixed (byte* requests = batch.Requests)
        fixed (byte* replies = batch.Replies)
        {
            uint key = 0;
            foreach (Site site in batch.Sites)
            {
                if (site.Fresh) key = _keys.Next();
                WriteDigits((site.InReply ? replies : requests) + site.Offset, key);
            }
        }
        wanted = batch.Replies;
        return batch.Requests;
    }

    private static void WriteDigits(byte* target, uint key)
    {
        uint high = key / 10_000;
        *(uint*)(target + 8) = FourDigits[key - high * 10_000];
        *(uint*)(target + 4) = FourDigits[high];
    }

    private Batch Build(string[] commands, int first)
    {
        List<byte> requests = [], replies = [];
        List<Site> sites = [];
        for (int i = 0; i < Pipeline; i++)
        {
            string command = commands[(first + i) % commands.Length];
            AppendRequest(command.Split(' '), requests, replies, sites);
        }
        return new Batch([.. requests], [.. replies], [.. sites]);
    }

    private void AppendRequest(string[] words, List<byte> requests, List<byte> replies, List<Site> sites)
    {
        Append(requests, $"*{words.Length}\r\n");
        Append(replies, ReplyHead(words));
        foreach (string word in words)
        {
            string text = word.Replace("%", Value(), StringComparison.Ordinal);
            int digitsAt = text.IndexOf('#', StringComparison.Ordinal);
            string wire = text.Replace("#", new string('0', KeyDigits), StringComparison.Ordinal);
            Append(requests, $"${wire.Length}\r\n");
            if (digitsAt >= 0) sites.Add(new Site(requests.Count + digitsAt, word != "%", InReply: false));
            Append(requests, wire + "\r\n");
            if (Check && word == "key:#" && words[0] is "GET" or "MGET") AppendWantedValue(replies, sites);
        }
    }

    private void AppendWantedValue(List<byte> replies, List<Site> sites)
    {
        Append(replies, $"${_valueBytes}\r\n");
        string value = Value();
        if (value.StartsWith('#')) sites.Add(new Site(replies.Count, Fresh: false, InReply: true));
        Append(replies, value.Replace("#", new string('0', KeyDigits), StringComparison.Ordinal) + "\r\n");
    }

    private string ReplyHead(string[] words)
    {
        if (!Check) return "";
        return words[0] switch
        {
            "PING" => "+PONG\r\n",
            "SET" or "MSET" => "+OK\r\n",
            "GET" => "",
            "MGET" => string.Create(CultureInfo.InvariantCulture, $"*{words.Length - 1}\r\n"),
            _ => throw new ArgumentException($"replies to {words[0]} cannot be checked"),
        };
    }

    private string Value() => Check && _valueBytes >= KeyDigits ? "#" + new string('x', _valueBytes - KeyDigits) : new string('x', _valueBytes);

    private static void Append(List<byte> bytes, string text) => bytes.AddRange(Encoding.ASCII.GetBytes(text));

    private static uint[] BuildDigits()
    {
        uint[] table = new uint[10_000];
        for (int i = 0; i < table.Length; i++)
            table[i] = MemoryMarshal.Read<uint>(Encoding.ASCII.GetBytes(i.ToString("D4", CultureInfo.InvariantCulture)));
        return table;
    }

    private readonly record struct Site(int Offset, bool Fresh, bool InReply);

    private sealed record Batch(byte[] Requests, byte[] Replies, Site[] Sites);
}
