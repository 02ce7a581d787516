namespace Garnet.Server;

/// <summary>A logger that counts what it could not write; INFO shows the number.</summary>
public interface ILostLines
{
    /// <summary>Lines lost since the start.</summary>
    long LostLines { get; }
}
