namespace Garnet.Rdb;

/// <summary>
/// What the byte before a value says, in RDB files and DUMP payloads (Redis's rdb.h lists them; versions 1 to 12 of the format). The
/// numbers between are modules, which need their own code to be read, and a form that only test releases wrote.
/// </summary>
public enum RdbType : byte
{
    String = 0,
    List = 1,
    Set = 2,
    /// <summary>Scores as text.</summary>
    SortedSetText = 3,
    Hash = 4,
    /// <summary>Scores as eight bytes.</summary>
    SortedSet = 5,
    ZipMap = 9,
    ListZipList = 10,
    IntegerSet = 11,
    SortedSetZipList = 12,
    HashZipList = 13,
    QuickList = 14,
    /// <summary>Entries in listpacks, groups of consumers.</summary>
    Stream = 15,
    HashListPack = 16,
    SortedSetListPack = 17,
    QuickList2 = 18,
    /// <summary>And what was ever added and deleted (7.0).</summary>
    Stream2 = 19,
    SetListPack = 20,
    /// <summary>And when consumers last got something (7.2).</summary>
    Stream3 = 21,
    /// <summary>Fields with expiry: the least one, then each field's distance to it.</summary>
    HashTimes = 24,
    HashTimesListPack = 25,
}
