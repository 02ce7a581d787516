using Garnet.Server.Rights;

namespace Garnet.Server.Test.Rights;

public sealed class CategoryNamesTests
{
    [Test]
    public void Every_category_is_called_by_its_members_name_in_small_letters() =>
        Assert.That(
            CategoryNames.All,
            Is.EqualTo(Enum.GetValues<CommandCategories>().Skip(1).Select(static its => (its, its.ToString().ToLowerInvariant()))));
}
