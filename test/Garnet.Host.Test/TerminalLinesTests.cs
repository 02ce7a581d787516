using System.Text;
using NUnit.Framework;

namespace Garnet.Host.Test;

internal sealed class TerminalLinesTests
{
    [Test]
    public void On_a_terminal_progress_is_one_line_whose_place_the_next_takes()
    {
        Assert.That(Written(isTerminal: true, static lines =>
        {
            lines.Write("begins");
            lines.WriteProgress("10 %");
            lines.WriteProgress("9");
            lines.Write("done");
            lines.Write("ends");
        }), Is.EqualTo("begins\n\r10 %\e[K\r9\e[K\rdone\e[K\nends\n"));
    }

    [Test]
    public void The_last_progress_stays_on_a_line_of_its_own() =>
        Assert.That(Written(isTerminal: true, static lines => lines.WriteProgress("10 %")), Is.EqualTo("\r10 %\e[K\n"));

    [Test]
    public void Elsewhere_progress_is_lines_like_others() =>
        Assert.That(Written(isTerminal: false, static lines =>
        {
            lines.WriteProgress("10 %");
            lines.Write("done");
        }), Is.EqualTo("10 %\ndone\n"));

    // host.T1
    [Test]
    public void What_cannot_be_written_is_counted_and_told_when_it_can_be_again()
    {
        using var output = new FullStream();
        using var lines = new TerminalLines(output, isTerminal: false);
        lines.Write("first");
        output.IsFull = true;
        lines.Write("lost");
        lines.WriteProgress("lost as well");
        Assert.That(lines.Lost, Is.EqualTo(2));
        output.IsFull = false;
        lines.Write("last");
        Assert.That(Encoding.UTF8.GetString(output.ToArray()), Is.EqualTo("first\n(2 lines could not be written here)\nlast\n"));
    }

    private sealed class FullStream : MemoryStream
    {
        public bool IsFull { get; set; }

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            if (IsFull) throw new IOException("No space left on device");
            base.Write(buffer);
        }
    }

    private static string Written(bool isTerminal, Action<TerminalLines> write)
    {
        using var output = new MemoryStream();
        using (var lines = new TerminalLines(output, isTerminal)) write(lines);
        return Encoding.UTF8.GetString(output.ToArray());
    }
}
