using BenchmarkDotNet.Running;

BenchmarkSwitcher.FromAssembly(typeof(Garnet.Bdn.StoreBenchmark).Assembly).Run(args);
