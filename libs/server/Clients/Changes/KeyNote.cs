using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>
/// A change of a key, noted under the store's lock, and the database it was in then (-1 if given up); who made it, if it was a
/// client's command. With <paramref name="Missed"/> nothing has changed: a command was about to look for the key in vain.
/// What is told of it may have been said with the change (<paramref name="Told"/>): then the command has no part in it.
/// </summary>
internal readonly record struct KeyNote(
    byte[] Key, int Database, KeyChange Change, Connection? Origin, bool Missed = false, KeyEvent? Told = null);
