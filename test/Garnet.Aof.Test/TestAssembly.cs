// Classes of tests that say so (Parallelizable), because they take minutes, run beside each other, two at a time; then the others, alone.
[assembly: NUnit.Framework.LevelOfParallelism(2)]
