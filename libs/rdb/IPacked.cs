using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>Strings that Redis has packed into one blob. Lives on its reader's stack and is not copied.</summary>
internal unsafe interface IPacked
{
    /// <summary>Begins with a blob from outside; false if it is none.</summary>
    bool TryOpen(byte* blob, int bytes);

    /// <summary>The next string, valid until two more have been read; false at the end or where the blob is damaged.</summary>
    bool Next(out Arg text);

    /// <summary>True if everything up to the end was sound; asked for at the end.</summary>
    bool IsSound { get; }
}
