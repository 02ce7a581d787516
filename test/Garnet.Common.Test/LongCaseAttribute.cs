using NUnit.Framework;
using NUnit.Framework.Interfaces;
using NUnit.Framework.Internal;

namespace Garnet.Common.Test;

/// <summary>A <see cref="TestCaseAttribute"/> that a short run leaves out (<see cref="LongRun"/>): another one of the same test takes the same way through the product.</summary>
internal sealed class LongCaseAttribute(params object?[] arguments) : TestCaseAttribute(arguments), ITestBuilder
{
    IEnumerable<TestMethod> ITestBuilder.BuildFrom(IMethodInfo method, NUnit.Framework.Internal.Test? suite) => LongRun.IsWanted ? BuildFrom(method, suite) : [];
}
