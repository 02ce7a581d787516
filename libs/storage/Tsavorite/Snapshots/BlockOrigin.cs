namespace Tsavorite;

/// <summary>Who wrote a block of a snapshot.</summary>
public enum BlockOrigin
{
    /// <summary>Anybody: its values are judged.</summary>
    Foreign,
    /// <summary>This very server, which is proven: its values were judged before they were written.</summary>
    Own,
}
