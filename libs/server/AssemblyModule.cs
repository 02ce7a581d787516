using System.Runtime.CompilerServices;

// Commands hold operations, walks and small buffers on the stack; clearing them first costs more than some commands (CollectionCost).
[module: SkipLocalsInit]
