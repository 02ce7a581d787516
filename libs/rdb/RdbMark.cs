namespace Garnet.Rdb;

/// <summary>What a byte in an RDB file says where a type is not meant.</summary>
public enum RdbMark : byte
{
    SlotInfo = 0xF4,
    Function = 0xF5,
    FunctionOfTests = 0xF6,
    Module = 0xF7,
    Idle = 0xF8,
    Frequency = 0xF9,
    Auxiliary = 0xFA,
    Sizes = 0xFB,
    ExpiryMs = 0xFC,
    ExpirySeconds = 0xFD,
    Database = 0xFE,
    End = 0xFF,
}
