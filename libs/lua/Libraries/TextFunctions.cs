using System.Buffers;
using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Lua.Libraries;

/// <summary>
/// What the prelude makes string.find, match, gmatch and gsub of. Their arguments are texts and numbers of the right kind already.
/// </summary>
internal static class TextFunctions
{
    private static readonly SearchValues<byte> Signs = SearchValues.Create("^$*+?.([%-\0"u8);

    private const int BytesPerLook = 1 << 20, ComparedPerLook = 1 << 24, Room = 8;

    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal static IEnumerable<KeyValuePair<string, Function>> All(long bytesMax)
    {
        var to = new GrowingText(bytesMax);
        return
        [
            new("text_find", static stack => Find(stack, tellsPlace: true)),
            new("text_match", static stack => Find(stack, tellsPlace: false)),
            new("text_next", Next),
            new("text_seek", Seek),
            new("text_replace", stack => Replace(stack, to)),
        ];
    }

    // text, pattern, where to begin (from 1), whether it is a plain text: the place and the captures, or the captures alone.
    private static int Find(LuaStack stack, bool tellsPlace)
    {
        ReadOnlySpan<byte> text = stack.Bytes(1), pattern = stack.Bytes(2);
        int start = (int)Math.Clamp(stack.Number(3) - 1, 0, text.Length);
        if (tellsPlace && (stack.Boolean(4) || IsPlain(pattern)))
            return FindPlain(stack, text, pattern, start);
        var match = new PatternMatch(text, pattern, stack, stackalloc (int, int)[PatternMatch.CapturesMax]);
        if (!match.TryFind(start, match.IsAnchored, out int first, out int last))
            return Nothing(stack, ref match);
        if (!tellsPlace)
            return PushCaptures(stack, ref match, 0, first, last);
        stack.Push((double)(first + 1));
        stack.Push((double)last);
        return match.Captures == 0 ? 2 : PushCaptures(stack, ref match, 2, first, last);
    }

    // As 5.1 looks for signs of a pattern: up to a zero.
    private static bool IsPlain(ReadOnlySpan<byte> pattern)
    {
        int sign = pattern.IndexOfAny(Signs);
        return sign < 0 || pattern[sign] == 0;
    }

    private static int FindPlain(LuaStack stack, ReadOnlySpan<byte> text, ReadOnlySpan<byte> sought, int start)
    {
        int at = sought.IsEmpty ? start : TryLook(stack, text, sought, start);
        if (at < 0)
        {
            stack.PushNil();
            return 1;
        }

        stack.Push((double)(at + 1));
        stack.Push((double)(at + sought.Length));
        return 2;
    }

    // Where every place looks like the beginning, the work is the product of both lengths.
    private static int TryLook(LuaStack stack, ReadOnlySpan<byte> text, ReadOnlySpan<byte> sought, int start)
    {
        long compared = 0;
        for (int from = start; from <= text.Length - sought.Length;)
        {
            ReadOnlySpan<byte> part = text[from..Math.Min(text.Length - sought.Length + 1, from + BytesPerLook)];
            int place = part.IndexOf(sought[0]);
            from += place < 0 ? part.Length : place;
            compared += place < 0 ? part.Length : place + 1;
            if (place >= 0)
            {
                int same = text[from..].CommonPrefixLength(sought);
                if (same == sought.Length)
                    return from;
                compared += same;
                from++;
            }

            if (compared > ComparedPerLook && LuaState.Look(stack))
                return -1;
            compared = compared > ComparedPerLook ? 0 : compared;
        }

        return -1;
    }

    // text, pattern, bytes passed: where to go on and the captures of the next match.
    private static int Next(LuaStack stack)
    {
        ReadOnlySpan<byte> text = stack.Bytes(1);
        var match = new PatternMatch(text, stack.Bytes(2), stack, stackalloc (int, int)[PatternMatch.CapturesMax]);
        if (!match.TryFind((int)stack.Number(3), isAnchored: false, out int first, out int last))
            return Nothing(stack, ref match);
        stack.Push((double)(last == first ? last + 1 : last));
        return PushCaptures(stack, ref match, 1, first, last);
    }

    // The same for a replacement that is not a text: begin and end of the next match, then its captures.
    private static int Seek(LuaStack stack)
    {
        ReadOnlySpan<byte> text = stack.Bytes(1);
        var match = new PatternMatch(text, stack.Bytes(2), stack, stackalloc (int, int)[PatternMatch.CapturesMax]);
        if (!match.TryFind((int)stack.Number(3), match.IsAnchored, out int first, out int last))
            return Nothing(stack, ref match);
        stack.Push((double)first);
        stack.Push((double)last);
        return PushCaptures(stack, ref match, 2, first, last);
    }

    private static int Nothing(LuaStack stack, ref PatternMatch match)
    {
        if (match.Error is { } error)
            return stack.Fail(System.Text.Encoding.ASCII.GetBytes(error), isPlaced: true);
        stack.PushNil();
        return 1;
    }

    // Behind so many results.
    private static int PushCaptures(LuaStack stack, ref PatternMatch match, int before, int first, int last)
    {
        int count = Math.Max(match.Captures, 1);
        if (!stack.Reserve(count + Room))
            return stack.Fail("stack overflow (too many captures)"u8);
        ReadOnlySpan<byte> text = stack.Bytes(1);
        long bytes = 0;
        for (int i = 0; i < count; i++)
        {
            if (!match.TryCapture(i, first, last, out int start, out int length))
                return Nothing(stack, ref match);
            bytes += Math.Max(length, 0);
            if (length < 0)
                stack.Push((double)(start + 1));
            else if (bytes > BytesPerLook && !LuaState.HasRoom(stack, length))
                return stack.Fail("not enough memory"u8, isPlaced: false);
            else
                stack.Push(text.Slice(start, length));
        }

        return before + count;
    }

    // text, pattern, replacement, how many at most: the result and how many it were.
    private static int Replace(LuaStack stack, GrowingText to)
    {
        ReadOnlySpan<byte> text = stack.Bytes(1), by = stack.Bytes(3);
        double most = stack.Number(4);
        var match = new PatternMatch(text, stack.Bytes(2), stack, stackalloc (int, int)[PatternMatch.CapturesMax]);
        bool isAnchored = match.IsAnchored;
        int at = 0, copied = 0, count = 0;
        to.Clear();
        while (count < most && !to.IsTooLong && match.TryFind(at, isAnchored, out int first, out int last))
        {
            count++;
            to.Add(text[copied..first]);
            if (!TryAdd(ref match, text, by, first, last, to))
                break;
            copied = last;
            at = last > first ? last : last + 1;
            if (at > text.Length || isAnchored)
                break;
        }

        if (match.IsOver)
            return Nothing(stack, ref match);
        to.Add(text[copied..]);
        bool isWhole = !to.IsTooLong && stack.TryPush(to.Written);
        to.Clear();
        stack.Push((double)count);
        return isWhole ? 2 : stack.Fail("not enough memory"u8, isPlaced: false);
    }

    // %1 stands for a capture, %0 for the match; behind the last sign is a zero for 5.1.
    private static bool TryAdd(ref PatternMatch match, ReadOnlySpan<byte> text, ReadOnlySpan<byte> by, int first, int last, GrowingText to)
    {
        while (by.IndexOf((byte)'%') is >= 0 and var sign && !to.IsTooLong)
        {
            to.Add(by[..sign]);
            byte what = sign + 1 < by.Length ? by[sign + 1] : (byte)0;
            by = by[Math.Min(sign + 2, by.Length)..];
            if (!char.IsAsciiDigit((char)what))
                to.Add(what);
            else if (what == '0')
                to.Add(text[first..last]);
            else if (!match.TryCapture(what - '1', first, last, out int start, out int length))
                return false;
            else if (length < 0)
                to.Take(NumberSpelling.Write(start + 1, JsonSettings.PrecisionMost, to.Room(NumberSpelling.BytesMax)));
            else
                to.Add(text.Slice(start, length));
        }

        to.Add(by);
        return true;
    }
}
