namespace Garnet.Rdb;

/// <summary>Gives the bytes of an RDB file from front to back.</summary>
public interface IRdbSource
{
    /// <summary>The next bytes, as many as the span takes at most; 0 once there are none.</summary>
    int Read(Span<byte> to);
}
