using System.Numerics;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Garnet.Types.Hashes;
using Garnet.Types.Lists;
using Garnet.Types.Sets;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Test;

/// <summary>What an operation says it will take of the log, for lengths around the limits of 15, 16, 24, 31 and 32 bits; nothing is ever that long here.</summary>
internal sealed unsafe class SizeArithmeticTests
{
    private static readonly int[] Lengths = [0, 1, (1 << 15) - 1, 1 << 15, (1 << 16) + 1, (1 << 24) - 1, 1 << 24, 512 << 20, int.MaxValue - 12, int.MaxValue];

    [Test]
    public void The_log_is_asked_for_the_true_sum_of_what_an_operation_takes()
    {
        var random = new Random(7);
        const int Max = 40;
        Arg* args = stackalloc Arg[Max];
        for (int round = 0; round < 2_000; round++)
        {
            int count = random.Next(1, Max);
            BigInteger sum = 0;
            for (int i = 0; i < count; i++)
            {
                args[i] = new Arg { Length = Lengths[random.Next(Lengths.Length)] };
                sum += args[i].Length;
            }

            var operands = new Operands(args, count);
            Judge(new ListPush { Values = operands }, sum, count);
            Judge(new SetAdd { Keys = operands }, sum, count);
            Judge(new HashPut { Pairs = operands }, sum, count);
            Judge(new SortedSetPut { Pairs = operands }, sum, count);
            Judge(new RemoveMembers { Keys = operands }, sum, count);
        }
    }

    private static void Judge<T>(T operation, BigInteger content, int count) where T : struct, ILogged =>
        Assert.That((BigInteger)operation.EncodedBytesMax, Is.InRange(content, content + (5 * count) + 32), typeof(T).Name);
}
