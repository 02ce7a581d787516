// Tests share nothing, so classes of them run beside each other, and the tests of a class that says so (ParallelScope.All); those that
// judge how long something took, or look for what happens seldom, run alone, after them. Four at a time: most wait for a socket, a thread
// or a clock.
[assembly: NUnit.Framework.Parallelizable(NUnit.Framework.ParallelScope.Fixtures)]
[assembly: NUnit.Framework.LevelOfParallelism(4)]
