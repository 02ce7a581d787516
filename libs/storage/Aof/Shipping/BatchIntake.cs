using Garnet.Aof.Format;
using Garnet.Aof.Reading;

namespace Garnet.Aof.Shipping;

/// <summary>
/// Takes parts of batches that a peer sent and makes batches of them, checking all that can be checked: the peer is not believed
/// a single byte. A part is wanted in the order of batches and, in a batch, of parts.
/// </summary>
public sealed unsafe class BatchIntake(LogPosition start, LogPosition? filled = null)
{
    private readonly uint[] _crcs = [.. start.Crcs];
    private LogPosition _position = start;
    private LogPosition? _filled = filled;
    private BatchBytes? _open;
    private int _part;

    /// <summary>Behind the last batch that came whole.</summary>
    public LogPosition Position => _position;

    /// <summary>Behind the last batch that held anything, as far as is known: the state there is that at <see cref="Position"/>.</summary>
    public LogPosition Filled => _filled ?? _position;

    /// <summary>
    /// Takes a part; null if it is what it must be, else why not. <paramref name="whole"/> is the batch, held for the caller, when
    /// this was its last part.
    /// </summary>
    public string? Take(ReadOnlySpan<byte> part, out BatchBytes? whole)
    {
        whole = null;
        HeaderState state = BatchHeader.TryRead(part, out BatchHeader header, out uint crc);
        if (state == HeaderState.Newer)
            return "the batch is of a newer version of the format";
        if (state != HeaderState.Whole)
            return "the checksum of a batch header does not hold";
        string? fault = HeaderFault(header);
        if (fault != null)
            return fault;
        ReadOnlySpan<byte> body = part[BatchHeader.Bytes..];
        if (body.Length != header.BodyBytes)
            return "a part of a batch has another length than its header says";
        if (Crc32C.Of(body) != header.BodyCrc)
            return "the checksum of a batch's body does not hold";
        fault = PartCheck.TableFault(header, body);
        if (fault != null)
            return fault;
        _open ??= new BatchBytes(header);
        _open.Add(header, crc, part, keeps: true);
        _crcs[_part++] = crc;
        if (_part < _crcs.Length)
            return null;
        (whole, _open, _part) = (_open, null, 0);
        _filled = whole.Entries > 0 ? null : Filled;
        _position = whole.Position;
        return null;
    }

    /// <summary>The connection is gone; what came of a batch that is not whole goes.</summary>
    public void Drop()
    {
        _open?.Release();
        (_open, _part) = (null, 0);
        for (int i = 0; i < _crcs.Length; i++) _crcs[i] = _position.Crcs[i];
    }

    private string? HeaderFault(in BatchHeader header)
    {
        if (header.Parts != _crcs.Length || header.Part != _part)
            return $"part {header.Part} of {header.Parts} came, {_part} of {_crcs.Length} was due";
        if (header.Batch != _position.Batch + 1)
            return $"batch {header.Batch} came, {_position.Batch + 1} was due";
        if (header.PreviousCrc != _crcs[_part])
            return $"batch {header.Batch} does not follow the one before it (its chain is broken)";
        if (header.Term < _position.Term)
            return $"batch {header.Batch} is of term {header.Term}, before term {_position.Term}";
        if (header.Term > TermStart.TermMax)
            return $"batch {header.Batch} is of term {header.Term}, and there is none above {TermStart.TermMax}";
        if (_open != null && (_open.Term != header.Term || _open.Kind != header.Kind))
            return $"the parts of batch {header.Batch} do not agree";
        return header.BodyBytes > LogLimits.PartBodyBytesMax ? $"batch {header.Batch} is longer than a batch can be" : null;
    }
}
