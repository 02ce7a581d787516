using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Garnet.Bdn;

if (args is ["reads-during-replay"]) return ReadsDuringReplay.Run();

// In process: a generated project would have to find this one by the name of its assembly, and needs a build per run.
Job inProcess = Job.Default.WithToolchain(InProcessEmitToolchain.Instance).AsMutator();
IConfig config = DefaultConfig.Instance.AddJob(inProcess);
return AllocationGate.Judge(BenchmarkSwitcher.FromAssembly(typeof(StoreBenchmark).Assembly).Run(args, config));
