namespace Garnet.Server.Base;

/// <summary>Arrays of objects.</summary>
internal static class Arrays
{
    /// <summary>So many new ones. A query over a range of numbers says the same, and is compiled anew at every start.</summary>
    internal static T[] Of<T>(int count, Func<T> make) where T : class
    {
        var made = new T[count];
        for (int i = 0; i < count; i++)
            made[i] = make();
        return made;
    }
}
