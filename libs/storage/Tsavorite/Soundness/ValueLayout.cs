namespace Tsavorite;

/// <summary>
/// How values lie in records, chunks and the arguments of logged operations: what the types (libs/types) say, seen as a whole. The files of the log and
/// snapshots name the layout in their headers, and so does a primary to its replica: who knows only earlier ones refuses before he reads a value.
/// Whoever changes a byte of it raises <see cref="Current"/>, goes on reading all layouts before, and adds the golden directory of the new one
/// (test/golden/values-v…, whose <c>layout.txt</c> a test compares with what is written today).
/// </summary>
public static class ValueLayout
{
    /// <summary>The layout that is written; all up to it are read.</summary>
    public const byte Current = 1;
}
