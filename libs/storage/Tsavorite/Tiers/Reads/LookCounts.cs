namespace Tsavorite;

/// <summary>
/// Which looks at fetched records count as reads of them: a step looks at some several times, and what was put off is done again; neither makes a record that is read more often.
/// </summary>
internal sealed class LookCounts
{
    private readonly List<ColdRead> _counted = [];

    /// <summary>True if the look, which is made in that step, counts.</summary>
    public bool Counts(ColdRead read, long step)
    {
        if (read.CountedIn == step)
            return false;
        read.CountedIn = step;
        _counted.Add(read);
        bool counts = !read.IsOwed;
        read.IsOwed = false;
        return counts;
    }

    /// <summary>The step is put off, and will look at them again.</summary>
    public void PutOff()
    {
        foreach (ColdRead read in _counted) read.IsOwed = true;
    }

    /// <summary>Another step begins.</summary>
    public void Begin() => _counted.Clear();
}
