using System.Numerics;
using System.Runtime.CompilerServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Collections;

namespace Garnet.Types.Streams;

/// <summary>
/// A name or value of an entry as it lies in a page: one byte that says how, then as few bytes as that takes. Equal texts have equal
/// bytes. 0x00-0x3F that many bytes as they are; 0x40-0x5F digits and what stands between them, 0xE0-0xFF hexadecimal digits, two to a byte,
/// 0x60-0x7F and 0x80-0x9F letters of two alphabets of 64, four to three bytes, each with its length less one; 0xA0-0xBF a number below
/// 32; 0xC0-0xCF a number of so many bytes, from 0xC8 on negative; 0xD0 the text that the first entry of the page has in this place;
/// 0xD1 a length as <see cref="VarInt"/> and bytes as they are; 0xD2-0xD5 a length in one byte and one of the four alphabets.
/// </summary>
public static unsafe class StreamText
{
    /// <summary>Says that the text is the first entry's.</summary>
    public const byte Same = 0xD0;

    /// <summary>What is written may touch so many bytes behind its end.</summary>
    public const int Slack = 8;

    /// <summary>Room that reading a text may take.</summary>
    public const int RoomBytes = PackedMax + Slack;

    private const byte Digits = 0x40, SixFirst = 0x60, SixSecond = 0x80, Small = 0xA0, Positive = 0xC0, Negative = 0xC8, Raw = 0xD1;
    private const byte Long = 0xD2, Hex = 0xE0;
    private const int RawMax = 0x40, ShortMax = 0x20, SmallMax = 0x20, PackedMax = 255, SixMin = 4;
    private const string DigitLetters = "0123456789.-:+ T", HexLetters = "0123456789abcdef";
    private const string FirstLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    private const string SecondLetters = "0123456789abcdefghijklmnopqrstuvwxyz _-.:/@,;=+*()[]{}'\"#%&?!<>|";

    private static readonly Alphabet[] Alphabets =
        [new(Digits, DigitLetters), new(Hex, HexLetters), new(SixFirst, FirstLetters), new(SixSecond, SecondLetters)];

    // Which alphabets have the letter: a bit each, in their order.
    private static readonly byte[] Members = [.. Enumerable.Range(0, 256)
        .Select(static letter => (byte)Alphabets.Select((alphabet, i) => alphabet.Codes[letter] >= 0 ? 1 << i : 0).Sum())];

    /// <summary>Bytes that a text of that length takes at most.</summary>
    public static long BytesMax(int length) => length < RawMax ? length + 1 : length + 1L + VarInt.BytesMax;

    /// <summary>Writes a text; returns the byte behind it.</summary>
    public static byte* Write(byte* to, ReadOnlySpan<byte> text)
    {
        if (text.Length <= NumberText.Int64BytesMax && NumberText.TryInt64(text, out long number))
            return WriteNumber(to, number);
        int alphabet = text.Length is > 1 and <= PackedMax ? Fitting(text) : -1;
        if (alphabet >= 0)
            return WritePacked(to, text, Alphabets[alphabet]);
        if (text.Length < RawMax)
        {
            *to++ = (byte)text.Length;
        }
        else
        {
            *to++ = Raw;
            to = VarInt.Write(to, (uint)text.Length);
        }

        text.CopyTo(new Span<byte>(to, text.Length));
        return to + text.Length;
    }

    /// <summary>True if the first byte says all about the length of what follows.</summary>
    public static bool IsWhole(byte head) => head is < Same or >= Hex;

    /// <summary>The byte behind a text.</summary>
    public static byte* Skip(byte* at) => Skip(*at, at + 1);

    /// <summary>The byte behind a text whose first byte stands elsewhere.</summary>
    public static byte* Skip(byte head, byte* at)
    {
        switch (head >> 5)
        {
            case 0 or 1:
                return at + head;
            case 2 or 7:
                return at + (((head & 31) + 2) >> 1);
            case 3 or 4:
                return at + SixBytes((head & 31) + 1);
            case 5:
                return at;
        }

        if (head < Same)
            return at + (head & 7) + 1;
        if (head == Same)
            return at;
        if (head == Raw)
        {
            VarInt.TryRead(ref at, (byte*)nuint.MaxValue, out uint length);
            return at + length;
        }

        return at + 1 + (head < Long + 2 ? (*at + 1) >> 1 : SixBytes(*at));
    }

    /// <summary>Passes over a text whose first byte stands elsewhere; false if it is none that <see cref="Read"/> knows, whole before the end.</summary>
    public static bool TrySkip(byte head, ref byte* at, byte* end)
    {
        if (head is Same or (>= Long + 4 and < Hex))
            return false;
        if (head == Raw)
        {
            if (!VarInt.TryRead(ref at, end, out uint length) || length > end - at || length > int.MaxValue)
                return false;
            at += length;
            return true;
        }

        if (!IsWhole(head) && at >= end)
            return false;
        byte* behind = Skip(head, at);
        bool isWhole = behind <= end;
        at = isWhole ? behind : at;
        return isWhole;
    }

    /// <summary>Replies a text as a bulk string; returns the byte behind it.</summary>
    public static byte* Reply(byte* at, RespWriter to) => Reply(*at, at + 1, to);

    /// <summary>Replies a text whose first byte stands elsewhere; returns the byte behind it.</summary>
    public static byte* Reply(byte head, byte* at, RespWriter to)
    {
        byte* decoded = stackalloc byte[RoomBytes];
        byte* end = Read(head, at, decoded, out ReadOnlySpan<byte> text);
        to.Bulk(text);
        return end;
    }

    /// <summary>Reads a text whose first byte stands elsewhere; what is packed is written to the room. Returns the byte behind it.</summary>
    public static byte* Read(byte head, byte* at, byte* room, out ReadOnlySpan<byte> text)
    {
        int group = head >> 5, length = (head & 31) + 1;
        if (head < RawMax)
        {
            text = new ReadOnlySpan<byte>(at, head);
            return at + head;
        }

        if (group == Small >> 5 || (head >= Positive && head < Same))
            return ReadNumber(at, head, room, out text);
        if (head == Raw)
        {
            VarInt.TryRead(ref at, (byte*)nuint.MaxValue, out uint bytes);
            text = new ReadOnlySpan<byte>(at, (int)bytes);
            return at + bytes;
        }

        Alphabet alphabet = head is >= Long and < Hex ? Alphabets[head - Long] : AlphabetOf(head);
        if (head is >= Long and < Hex)
            length = *at++;
        text = new ReadOnlySpan<byte>(room, length);
        return alphabet.Letters.Length == 16
            ? ReadNibbles(at, room, length, alphabet.Letters)
            : ReadSix(at, room, length, alphabet.Letters);
    }

    private static Alphabet AlphabetOf(byte head) => Alphabets[(head >> 5) switch { 2 => 0, 7 => 1, 3 => 2, _ => 3 }];

    private static int SixBytes(int letters) => ((letters * 6) + 7) >> 3;

    // The alphabet that packs the text best, -1 for none.
    private static int Fitting(ReadOnlySpan<byte> text)
    {
        int all = 15;
        ref byte members = ref Members[0];
        foreach (byte letter in text)
            all &= Unsafe.Add(ref members, letter);
        if (text.Length < SixMin)
            all &= 3;
        return all == 0 ? -1 : BitOperations.TrailingZeroCount(all);
    }

    private static byte* WriteNumber(byte* to, long number)
    {
        if (number is >= 0 and < SmallMax)
        {
            *to = (byte)(Small + number);
            return to + 1;
        }

        ulong magnitude = number < 0 ? 0 - (ulong)number : (ulong)number;
        int bytes = ((63 - BitOperations.LeadingZeroCount(magnitude)) >> 3) + 1;
        *to = (byte)((number < 0 ? Negative : Positive) + bytes - 1);
        Unsafe.WriteUnaligned(to + 1, magnitude);
        return to + 1 + bytes;
    }

    private static byte* ReadNumber(byte* at, byte head, byte* room, out ReadOnlySpan<byte> text)
    {
        ulong magnitude = head < Positive ? (ulong)(head - Small) : 0;
        int bytes = head < Positive ? 0 : (head & 7) + 1;
        for (int i = 0; i < bytes; i++)
            magnitude |= (ulong)at[i] << (8 * i);
        byte* end = NumberText.Write(room, head >= Negative ? (long)(0 - magnitude) : (long)magnitude);
        text = new ReadOnlySpan<byte>(room, (int)(end - room));
        return at + bytes;
    }

    private static byte* WritePacked(byte* to, ReadOnlySpan<byte> text, Alphabet alphabet)
    {
        if (text.Length <= ShortMax)
        {
            *to++ = (byte)(alphabet.Head + text.Length - 1);
        }
        else
        {
            *to++ = (byte)(Long + Array.IndexOf(Alphabets, alphabet));
            *to++ = (byte)text.Length;
        }

        int width = alphabet.Letters.Length == 16 ? 4 : 6, filled = 0;
        uint bits = 0;
        foreach (byte letter in text)
        {
            bits |= (uint)alphabet.Codes[letter] << filled;
            filled += width;
            if (filled < 8)
                continue;
            *to++ = (byte)bits;
            bits >>= 8;
            filled -= 8;
        }

        if (filled > 0)
            *to++ = (byte)bits;
        return to;
    }

    private static byte* ReadNibbles(byte* at, byte* room, int length, byte[] letters)
    {
        for (int i = 0; i < length; i++)
            room[i] = letters[(at[i >> 1] >> (4 * (i & 1))) & 15];
        return at + ((length + 1) >> 1);
    }

    private static byte* ReadSix(byte* at, byte* room, int length, byte[] letters)
    {
        uint bits = 0;
        for (int i = 0, filled = 0; i < length; i++, filled -= 6, bits >>= 6)
        {
            if (filled < 6)
            {
                bits |= (uint)*at++ << filled;
                filled += 8;
            }

            room[i] = letters[bits & 63];
        }

        return at;
    }

    private sealed class Alphabet
    {
        public Alphabet(byte head, string letters)
        {
            Head = head;
            Letters = System.Text.Encoding.ASCII.GetBytes(letters);
            Codes = [.. Enumerable.Range(0, 256).Select(letter => (sbyte)letters.IndexOf((char)letter, StringComparison.Ordinal))];
        }

        public byte Head { get; }

        public byte[] Letters { get; }

        // The letter's place in the alphabet, -1 for none.
        public sbyte[] Codes { get; }
    }
}
