using Garnet.Host;

return ServerProcess.Run(args);
