namespace Garnet.Lua.Libraries;

/// <summary>The format of struct.pack and its kin, read option by option: letter, size, order of bytes and alignment.</summary>
internal ref struct StructFormat(ReadOnlySpan<byte> format)
{
    private const int WholeMax = 32, AlignMax = 8;

    private readonly ReadOnlySpan<byte> _format = format;
    private int _at;
    private int _align = 1;

    /// <summary>Numbers have their last byte first.</summary>
    internal bool IsLittle { get; private set; } = true;

    /// <summary>Letter of the option.</summary>
    internal char Option { get; private set; }

    /// <summary>Bytes of its value.</summary>
    internal long Size { get; private set; }

    /// <summary>What is wrong; empty if nothing.</summary>
    internal string Error { get; private set; } = "";

    /// <summary>Goes to the next option that stands for a value or for padding; false at the end or at an error.</summary>
    internal bool Next()
    {
        while (_at < _format.Length && Error.Length == 0)
        {
            Option = (char)_format[_at++];
            if (Option is ' ' or '>' or '<' or '=' or '!')
                SetMode();
            else
                return TrySize();
        }

        return false;
    }

    /// <summary>Bytes to leave out before a value at the offset, so that it is aligned.</summary>
    internal readonly int Padding(long offset)
    {
        if (Size <= 1 || Option is 'c' or 's' or 'x')
            return 0;
        long align = Math.Min(Size, _align);
        return (int)((align - (offset & (align - 1))) & (align - 1));
    }

    private void SetMode()
    {
        if (Option == '!')
        {
            long align = Number(AlignMax);
            if (align <= 0 || (align & (align - 1)) != 0)
                Error = "alignment is not a power of 2";
            _align = (int)Math.Min(align, WholeMax);
        }
        else if (Option != ' ')
        {
            IsLittle = Option != '>';
        }
    }

    private long Number(long otherwise)
    {
        if (_at >= _format.Length || !char.IsAsciiDigit((char)_format[_at]))
            return otherwise;
        long number = 0;
        while (_at < _format.Length && char.IsAsciiDigit((char)_format[_at]))
        {
            number = (number * 10) + _format[_at++] - '0';
            if (number > int.MaxValue)
            {
                Error = "integral size overflow";
                return 0;
            }
        }

        return number;
    }

    private bool TrySize()
    {
        Size = Option switch
        {
            'b' or 'B' or 'x' => 1,
            'h' or 'H' => 2,
            'f' => 4,
            'l' or 'L' or 'T' or 'd' => 8,
            'i' or 'I' => Number(4),
            'c' => Number(1),
            's' => 0,
            _ => -1,
        };
        if (Size < 0)
            Error = $"bad argument #1 to 'pack' (invalid format option '{Option}')";
        else if (Option is 'i' or 'I' && Size > WholeMax)
            Error = $"integral size {Size} is larger than limit of {WholeMax}";
        return Error.Length == 0;
    }
}
