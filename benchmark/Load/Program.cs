using CommandLine;
using Garnet.Load;

using Parser parser = new(s => { s.CaseInsensitiveEnumValues = true; s.HelpWriter = Console.Error; });
return parser.ParseArguments<RunOptions>(args)
    .MapResult(RunVerb.Run, _ => 2);
