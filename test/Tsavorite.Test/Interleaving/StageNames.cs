using System.Text;

namespace Tsavorite.Test.Interleaving;

/// <summary>Key names found by trial, so that each lies where a stage wants it.</summary>
internal sealed unsafe class StageNames
{
    private const ulong FirstTagBits = 7;

    private StageNames(string shared, string other, string[] companions, string[] neighbours)
    {
        (SharedName, OtherName, Companions, Neighbours) = (shared, other, companions, neighbours);
        All = [shared, other, .. companions, .. neighbours];
    }

    public string SharedName { get; }
    public string OtherName { get; }
    /// <summary>Keys of the shared one's bucket, whatever is split.</summary>
    public string[] Companions { get; }
    /// <summary>Keys of its partition that never share its bucket.</summary>
    public string[] Neighbours { get; }
    public IReadOnlyList<string> All { get; }

    public string Real(string name) => name switch
    {
        Stage.Shared => SharedName,
        Stage.Other => OtherName,
        _ => name,
    };

    public static StageNames Find(int companions, int neighbours)
    {
        using Store store = new(Stage.Settings());
        byte* bytes = stackalloc byte[64];
        List<string> together = [], near = [];
        string? other = null;
        for (int i = 0; together.Count <= companions || near.Count < neighbours || other == null; i++)
        {
            string name = "n" + i;
            KeyRef key = store.Key(bytes, Encoding.ASCII.GetBytes(name, new Span<byte>(bytes, 32)), 0);
            Shape* shape = store.Core.Shape;
            if (store.PartitionOf(key) != 0) other ??= name;
            else if (((key.Hash >> shape->BucketShift) & shape->BucketMask) != 0) near.Add(name);
            else if (Shape.TagOf(shape, key.Hash) >> 61 == FirstTagBits) together.Add(name);
        }
        return new StageNames(together[0], other, [.. together.Skip(1).Take(companions)], [.. near.Take(neighbours)]);
    }
}
