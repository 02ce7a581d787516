using System.Globalization;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Rdb;

/// <summary>Where a MIGRATE goes and how.</summary>
internal sealed record MigrateTerms(string Host, int Port, string Database, int TimeoutMs)
{
    internal bool Copies { get; set; }

    internal bool Replaces { get; set; }

    internal string[] Credentials { get; set; } = [];

    /// <summary>Indexes of the keys among the arguments.</summary>
    internal int FirstKey { get; set; } = 3;

    internal int Keys { get; set; } = 1;

    /// <summary>Reads all arguments; on false the error has been written.</summary>
    internal static bool TryRead(ref Call call, out MigrateTerms terms, out Reply failed)
    {
        terms = new MigrateTerms(call.Text(1), 0, call.Text(4), 0);
        failed = Reply.Sent;
        for (int i = 6; i < call.Count && failed == Reply.Sent; i++)
        {
            int left = call.Count - i - 1;
            if (call.Is(i, "COPY"u8))
            {
                terms.Copies = true;
            }
            else if (call.Is(i, "REPLACE"u8))
            {
                terms.Replaces = true;
            }
            else if (call.Is(i, "AUTH"u8) && left >= 1)
            {
                terms.Credentials = [call.Text(++i)];
            }
            else if (call.Is(i, "AUTH2"u8) && left >= 2)
            {
                terms.Credentials = [call.Text(i + 1), call.Text(i + 2)];
                i += 2;
            }
            else if (call.Is(i, "KEYS"u8))
            {
                if (!call[3].IsEmpty)
                    failed = call.FailBytes("ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"u8);
                terms.Keys = Math.Min(left, 1); // with nothing behind the word there is none
                break;
            }
            else
            {
                failed = call.Fail(Fault.Syntax);
            }
        }

        if (failed == Reply.Sent && (!call.TryInt64(5, out long _) || !call.TryInt64(4, out long _)))
            failed = call.Fail(Fault.NotAnInteger);
        if (terms.Keys > 0 && KeyPositions.TryOf(ref call, call.Server.Commands.Specs[call.Client.LastCommand].Keys, out KeyPositions keys))
            (terms.FirstKey, terms.Keys) = (keys[0], keys.Count);
        call.TryInt64(5, out long timeout);
        _ = int.TryParse(call.Text(2), NumberStyles.None, CultureInfo.InvariantCulture, out int port);
        terms = terms with
        {
            Port = Math.Clamp(port, 0, ushort.MaxValue), TimeoutMs = timeout is <= 0 or > int.MaxValue ? 1000 : (int)timeout,
        };
        return failed == Reply.Sent;
    }
}
