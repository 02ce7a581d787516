using System.Text;

namespace Garnet.Common.Resp;

/// <summary>What the shared errors say; sentences that client libraries match on are kept word for word.</summary>
public static class FaultText
{
    /// <summary>What everybody else is told while a script, or a function, runs for too long.</summary>
    public static ReadOnlySpan<byte> Busy(bool isFunction) => isFunction
        ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."u8
        : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."u8;

    /// <summary>Writes are refused while the append-only file cannot be written, for the reason.</summary>
    public static byte[] LogTrouble(string? reason) => Encoding.Latin1.GetBytes("MISCONF Errors writing to the AOF file: " + reason);

    /// <summary>The command was given too few or too many arguments.</summary>
    public static string WrongArity(string command) => $"ERR wrong number of arguments for '{command.ToLowerInvariant()}' command";

    /// <summary>The error line of the fault, its code in front.</summary>
    public static ReadOnlySpan<byte> Of(Fault fault) => fault switch
    {
        Fault.Syntax => "ERR syntax error"u8,
        Fault.WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value"u8,
        Fault.NotAnInteger => "ERR value is not an integer or out of range"u8,
        Fault.NotAFloat => "ERR value is not a valid float"u8,
        Fault.HashValueNotAnInteger => "ERR hash value is not an integer"u8,
        Fault.IncrementOverflow => "ERR increment or decrement would overflow"u8,
        Fault.IncrementNotFinite => "ERR increment would produce NaN or Infinity"u8,
        Fault.IndexOutOfRange => "ERR index out of range"u8,
        Fault.OffsetOutOfRange => "ERR offset is out of range"u8,
        Fault.ValueOutOfRange => "ERR value is out of range"u8,
        Fault.ElementTooLong => "ERR an element of a collection is longer than 256 MiB"u8,
        Fault.StringTooLong => "ERR string exceeds maximum allowed size (proto-max-bulk-len)"u8,
        Fault.KeyTooLong => "ERR key is longer than 65535 bytes"u8,
        Fault.CollectionKeyTooLong => "ERR the key of a collection is longer than 65523 bytes"u8,
        Fault.NoSuchKey => "ERR no such key"u8,
        Fault.SameObject => "ERR source and destination objects are the same"u8,
        Fault.DatabaseOutOfRange => "ERR DB index is out of range"u8,
        Fault.InvalidDatabase => "ERR invalid DB index"u8,
        Fault.OutOfMemory => "OOM command not allowed when used memory > 'maxmemory'."u8,
        Fault.NoRoomForLibraries =>
            "OOM command not allowed when used memory > 'maxmemory': all libraries are one value, "u8
            + "which is in memory twice while it changes"u8,
        Fault.ReadOnlyReplica => "READONLY You can't write against a read only replica."u8,
        Fault.ReadOnlyReplicaScript => "READONLY You can not run script with write flag on readonly replica."u8,
        Fault.TooFewReplicas => "NOREPLICAS Not enough good replicas to write."u8,
        Fault.PrimaryDown => "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."u8,
        Fault.PrimaryDownScript => "ERR Can not execute the command on a stale replica"u8,
        Fault.Loading => "LOADING Redis is loading the dataset in memory"u8,
        Fault.NoAuth => "NOAUTH Authentication required."u8,
        Fault.WrongPassword => "WRONGPASS invalid username-password pair or user is disabled."u8,
        Fault.NotPositive => "ERR value is out of range, must be positive"u8,
        Fault.InvalidCursor => "ERR invalid cursor"u8,
        Fault.ResourceLimit => "ERR a per-client limit was reached"u8,
        Fault.TimeoutNotAnInteger => "ERR timeout is not an integer or out of range"u8,
        Fault.TimeoutNegative => "ERR timeout is negative"u8,
        Fault.CountNotPositive => "ERR COUNT must be > 0"u8,
        Fault.TakeCountNotPositive => "ERR count should be greater than 0"u8,
        Fault.KeyCountNotPositive => "ERR numkeys should be greater than 0"u8,
        Fault.MoreKeysThanArguments => "ERR Number of keys can't be greater than number of args"u8,
        Fault.LimitNegative => "ERR LIMIT can't be negative"u8,
        Fault.NotNegatable => "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"u8,
        Fault.DumpDamaged => "ERR DUMP payload version or checksum are wrong"u8,
        Fault.KeyChangesTooFast => "TRYAGAIN the key changes too fast; try again"u8,
        Fault.ShutdownFailed => "ERR Errors trying to SHUTDOWN. Check logs."u8,
        Fault.Internal => "ERR internal error"u8,
        _ => throw new ArgumentOutOfRangeException(nameof(fault)),
    };
}
