using System.Runtime.CompilerServices;

// The hot paths hold small buffers on the stack; clearing them first would cost more than the work (StoreBenchmark).
[module: SkipLocalsInit]
