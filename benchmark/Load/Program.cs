using CommandLine;
using Garnet.Load;
using Garnet.Load.Compare;

using Parser parser = new(s => s.HelpWriter = Console.Error);
return parser.ParseArguments<RunOptions, CompareOptions>(args)
    .MapResult((RunOptions o) => RunVerb.Run(o), (CompareOptions o) => CompareVerb.Run(o), _ => 2);
