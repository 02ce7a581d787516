// Classes of tests that say so (Parallelizable), because the servers they talk to are their own, run beside each other, four at a time:
// most wait for a server to start, to notice, to take over. The others run one after the other, on the servers that all of them share.
[assembly: NUnit.Framework.LevelOfParallelism(4)]
