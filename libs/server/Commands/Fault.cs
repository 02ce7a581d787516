namespace Garnet.Server.Commands;

/// <summary>The errors that commands share; each has its text in <see cref="FaultText"/>.</summary>
internal enum Fault : byte
{
    Syntax,
    WrongType,
    NotAnInteger,
    NotAFloat,
    HashValueNotAnInteger,
    IncrementOverflow,
    IncrementNotFinite,
    IndexOutOfRange,
    OffsetOutOfRange,
    ValueOutOfRange,
    StringTooLong,
    ElementTooLong,
    KeyTooLong,
    NoSuchKey,
    SameObject,
    DatabaseOutOfRange,
    InvalidDatabase,
    OutOfMemory,
    NoAuth,
    WrongPassword,
    NotPositive,
    InvalidCursor,
    ResourceLimit,
    TimeoutNotAnInteger,
    TimeoutNegative,
    NotAnUnsignedInteger,
    Loading,
    Internal,
}
