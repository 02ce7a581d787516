using System.Buffers.Binary;
using System.Globalization;
using NUnit.Framework;

namespace Garnet.Media.Test;

/// <summary>Its bytes and digits are those of a number of 128 bits, as files of earlier versions have them.</summary>
internal sealed class MediumIdTests
{
    private static readonly MediumId Id = new(0x0123456789ABCDEF, 0x00FEDCBA98765432);

    [Test]
    public void Bytes_and_digits_are_those_of_one_number()
    {
        UInt128 number = new(Id.High, Id.Low);
        byte[] expected = new byte[MediumId.Bytes], bytes = new byte[MediumId.Bytes];
        BinaryPrimitives.WriteUInt128LittleEndian(expected, number);
        Id.Write(bytes);
        Assert.That(bytes, Is.EqualTo(expected));
        Assert.That(MediumId.Read(bytes), Is.EqualTo(Id));
        Assert.That(Id.ToString(), Is.EqualTo(number.ToString("x32", CultureInfo.InvariantCulture)));
        Assert.That((MediumId.TryParse(Id.ToString(), out MediumId read), read), Is.EqualTo((true, Id)));
    }

    [Test]
    public void Other_text_is_refused([Values("", "7", "0123456789abcdef00fedcba9876543", "0123456789abcdef00fedcba987654321",
        "0123456789abcdeg00fedcba98765432", " 123456789abcdef00fedcba98765432", "0123456789abcdef+0fedcba98765432")] string text)
        => Assert.That(MediumId.TryParse(text, out _), Is.False);

    [Test]
    public void A_new_one_is_nobodys()
    {
        MediumId first = MediumId.New(), second = MediumId.New();
        Assert.That((first.IsNone, first == second, default(MediumId).IsNone), Is.EqualTo((false, false, true)));
    }
}
