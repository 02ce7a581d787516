// The fuzzers, which run for a set time each, run beside each other; all other tests run alone, after them.
[assembly: NUnit.Framework.LevelOfParallelism(6)]
