namespace Tsavorite;

/// <summary>
/// Databases that are filled beside those that are shown, for nobody to see before <see cref="NamespaceTable.Show(StagedNamespaces)"/> puts all of them in
/// the place of all that is shown, in one step, or <see cref="NamespaceTable.Drop"/> gives them up.
/// </summary>
public sealed class StagedNamespaces
{
    private readonly NamespaceTable _table;

    internal StagedNamespaces(NamespaceTable table) => _table = table;

    /// <summary>Under the table's gate.</summary>
    internal Dictionary<int, uint> Ids { get; } = [];

    /// <summary>The id to fill for the number; creates it on first use.</summary>
    public uint Id(int database) => _table.IdOf(this, database);
}
