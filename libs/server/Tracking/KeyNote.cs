using Garnet.Server.Net;
using Tsavorite;

namespace Garnet.Server.Tracking;

/// <summary>A change of a key, noted under the store's lock; who made it, if it was a client's command.</summary>
internal readonly record struct KeyNote(byte[] Key, uint Namespace, KeyChange Change, Connection? Origin);
