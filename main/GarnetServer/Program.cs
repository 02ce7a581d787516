using Garnet.Admin;
using Garnet.Host;

// Without a listener its code is not loaded either.
return ServerProcess.Run(args, static (server, log) => server.Settings.Admin.Serves ? AdminListener.Start(server, log) : null);
