namespace Garnet.Rdb;

/// <summary>Takes what an <see cref="RdbWriter"/> has written, while a value is still being written.</summary>
public interface IRdbSink
{
    /// <summary>Takes the bytes; they are the caller's again afterwards.</summary>
    void Take(ReadOnlySpan<byte> bytes);
}
