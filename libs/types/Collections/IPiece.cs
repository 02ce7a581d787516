namespace Garnet.Types.Collections;

/// <summary>An edit that puts one part of a value of its kind as it is (<see cref="PieceTransfer"/>).</summary>
public interface IPiece
{
    /// <summary>The part.</summary>
    ValuePiece Part { get; set; }
}
