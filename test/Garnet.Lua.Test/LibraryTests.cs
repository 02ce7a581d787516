using Garnet.Common;

namespace Garnet.Lua.Test;

public sealed class LibraryTests
{
    [Test]
    public void A_library_that_is_not_there_is_the_environments_failure_and_says_what_to_do()
    {
        GarnetException? failure = Assert.Throws<GarnetException>(static () => LuaLibrary.Load("lua54-that-nobody-has"));
        Assert.That(failure!.What, Is.EqualTo("Lua is not available"));
        Assert.That(failure.Why, Does.Contain("lua54-that-nobody-has").And.Contain("put it beside"));
    }
}
