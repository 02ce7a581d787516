using System.Globalization;
using Garnet.Bulk;
using Garnet.BulkCopy;

// Copies between the memory of two processes, and says how fast beside a copy within one.
//   bulk-copy expose local 512             exposes 512 MiB, says ADDRESS and REGION in a line, and ends with its stdin
//   bulk-copy expose local 512 heap        the same, of the managed heap, which `local` has the kernel copy, where it maps a segment
//   bulk-copy read local ADDRESS REGION    in another shell: reads all of it, again and again for two seconds in all, and checks it
//   bulk-copy write local ADDRESS REGION   the same, written
//   bulk-copy providers                    what this machine has
//   bulk-copy expose tcp 512 127.0.0.1     at that address of this machine
// In place of `local`: tcp, net or shm, where libfabric is installed.
CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
if (!BulkLibrary.IsAvailable)
{
    Console.Error.WriteLine(BulkLibrary.WhyNot);
    return 69;
}

switch (args)
{
    case ["providers"]:
        foreach (ProviderFact known in BulkLibrary.Providers)
            Console.WriteLine($"{known.Name,-6} {(known.IsAvailable ? "available" : known.Reason)}");
        return 0;
    case ["expose", string provider, string mebibytes, .. [] or [_]] when int.TryParse(mebibytes, out int size) && size is > 0 and < 2048:
        await Exposed.RunAsync(provider, size << 20, args is [_, _, _, string where] ? where : "");
        return 0;
    case ["read" or "write", string provider, string address, string region]:
        return await Copy.RunAsync(provider, Convert.FromHexString(address), RemoteRegion.Parse(region), writes: args[0] == "write");
    default:
        Console.Error.WriteLine("bulk-copy providers | expose PROVIDER MEBIBYTES [heap | HOST] | read PROVIDER ADDRESS REGION | write PROVIDER ADDRESS REGION");
        return 64;
}
