namespace Garnet.Server.Replication;

/// <summary>Somebody who wants to read the whole store on the thread that does.</summary>
internal interface IDigestReader
{
    /// <summary>Reads; given up when <paramref name="goesOn"/> says so.</summary>
    void Read(Func<bool> goesOn);
}
