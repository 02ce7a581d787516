namespace Garnet.Load.Compare.Bulk;

/// <summary>A way to put values and to get them.</summary>
internal interface IBulkWay : IDisposable
{
    string Name { get; }

    int ServerPid { get; }

    /// <summary>Memory for values of that size; not measured.</summary>
    void Prepare(int size);

    void Put(string key, int size);

    void Get(string key, int size);
}
