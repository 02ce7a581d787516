namespace Garnet.Host;

/// <summary>What <c>--help</c> prints.</summary>
internal static class Usage
{
    public static string Text => $"""
        {Banner.Name}
        A server for the Redis protocol.

        Usage: garnet-server [FILE] [options] [--SETTING VALUE ...]
               garnet-server ping [FILE]                    exits 0 if the server answers
               garnet-server status [FILE] [--json] [--watch]   says how the server is; exits 0 if it is well
               garnet-server doctor [FILE] [--json]         looks for what is wrong with machine, settings and server
                   ping, status and doctor read the settings as a start does: FILE and [--SETTING VALUE ...] too
               garnet-server check DIR                      says what is sound in a data directory, and what is not
               garnet-server repair DIR [--apply]           proposes a repair, or does it, keeping the originals
                   [--aof-pm-path FILE]                     of both: the file in persistent memory that the log may have its end in
               garnet-server restore BACKUP [FILE] --dir DIR   makes of DIR what a server with these settings starts with
                   --key-file FILE          where the key is, if it is encrypted
                   --dry-run                writes nothing; without --dir only looks whether the backup is sound
                   reads the settings as a start does: FILE and [--SETTING VALUE ...] too
               garnet-server migrate SOURCE [TARGET] [options]   takes over a running Redis, and follows it until the clients change over
                   SOURCE and TARGET (127.0.0.1:6379 if none is named): redis://[user:password@]host[:port], or host[:port];
                   passwords also from GARNET_SOURCE_PASSWORD and GARNET_TARGET_PASSWORD, or from the files that ..._PASSWORD_FILE name
                   --replace                removes what the target, which is named then, holds first, where it cannot go on with it
                   --until-caught-up        ends when the target has all that the source had at one moment
                   --cut-over               ends for good then; writers have to wait meanwhile (CLIENT PAUSE ... WRITE on the source)
                   --pause-source SECONDS   of --cut-over: has them wait itself, for so long at most
                   --verify N|all           compares so many keys at the end (1000); 0: none
                   --scan                   copies key by key, where the source takes no replicas: not the data of one moment
                   --timeout SECONDS        how long a server may say nothing (60)
                   --json                   says what it does in JSON, an object a line

        Settings come from, later wins: defaults, FILE, environment (GARNET_MAXMEMORY=1gb), command line (--maxmemory 1gb).
        They are named as in redis.conf; garnet-server --print-reference settings lists them. FILE may be - for standard input.

          --config FILE          Reads settings from FILE, in the syntax of redis.conf.
          --check-config FILE    Checks FILE, says what is wrong with which line, and ends.
          --help, -h             Prints this.
          --version, -v          Prints the version.
        """;
}
