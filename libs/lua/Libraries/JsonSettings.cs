namespace Garnet.Lua.Libraries;

/// <summary>What a script may set about cjson; back to these values when it ends.</summary>
internal sealed class JsonSettings
{
    /// <summary>Digits of a number as Lua spells it.</summary>
    internal const int PrecisionMost = 14;

    internal bool ConvertsSparse { get; set; }
    internal double SparseRatio { get; set; } = 2;
    internal double SparseSafe { get; set; } = 10;
    internal int EncodeDepth { get; set; } = 1000;
    internal int DecodeDepth { get; set; } = 1000;
    internal int Precision { get; set; } = PrecisionMost;
    internal bool EncodesInvalid { get; set; }
    internal bool EncodesInvalidAsNull { get; set; }
    internal bool DecodesInvalid { get; set; } = true;
    /// <summary>Tables that were arrays are marked, so that empty ones are arrays again.</summary>
    internal bool MarksArrays { get; set; }
    internal bool KeepsBuffer { get; set; } = true;
}
