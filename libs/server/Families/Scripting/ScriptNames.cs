using Garnet.Server.Commands;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Scripting;

/// <summary>
/// The names of texts that EVAL has run lately on one reactor: to compare a text with the one that was there costs a fraction of its SHA1.
/// </summary>
internal sealed class ScriptNames
{
    private const int Places = 64, BytesMax = 4096; // of a text that is kept: a quarter of a megabyte in all

    private readonly (byte[] Text, ScriptName Name)[] _places = new (byte[], ScriptName)[Places];

    /// <summary>The name of the text in an argument.</summary>
    internal ScriptName Of(ref Call call, int argument)
    {
        ReadOnlySpan<byte> text = call[argument];
        if (text.Length > BytesMax)
            return ScriptName.Of(text);
        ref (byte[] Text, ScriptName Name) place = ref _places[call.HashAt(argument) % Places];
        if (place.Text is null || !text.SequenceEqual(place.Text))
            place = (text.ToArray(), ScriptName.Of(text));
        return place.Name;
    }
}
