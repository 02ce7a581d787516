using System.Buffers.Binary;

namespace Garnet.Server.Test.Hostile;

/// <summary>Changes bytes where they tell the most: lengths, counts and offsets stand at the beginning and, in pages, at the end.</summary>
internal static class Spoiler
{
    internal static byte[] Spoil(ReadOnlySpan<byte> sound, Random random)
    {
        byte[] bytes = sound.ToArray();
        for (int times = random.Next(1, 4); times > 0 && bytes.Length > 0; times--)
        {
            int at = random.Next(4) switch { 0 => random.Next(Math.Min(bytes.Length, 40)), 1 => bytes.Length - 1 - random.Next(Math.Min(bytes.Length, 100)), _ => random.Next(bytes.Length) };
            switch (random.Next(8))
            {
                case 0: bytes[at] ^= (byte)(1 << random.Next(8)); break;
                case 1: bytes[at] = (byte)random.Next(256); break;
                case 2: bytes[at] += (byte)random.Next(-3, 4); break;
                case 3 when at + 4 <= bytes.Length: BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(at), random.Next(3) == 0 ? random.Next() : random.Next(-20, 200)); break;
                case 4 when at + 8 <= bytes.Length: BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(at), random.Next(3) == 0 ? random.NextInt64() : random.Next(-20, 200)); break;
                case 5: bytes = bytes[..at]; break;
                case 6: bytes = [.. bytes, .. bytes.AsSpan(at, Math.Min(random.Next(1, 30), bytes.Length - at))]; break;
                default: bytes.AsSpan(random.Next(bytes.Length), 1).CopyTo(bytes.AsSpan(at)); break;
            }
        }

        return bytes;
    }
}
