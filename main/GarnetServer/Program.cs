using Garnet.Admin;
using Garnet.Host;

return ServerProcess.Run(args, AdminListener.Start);
