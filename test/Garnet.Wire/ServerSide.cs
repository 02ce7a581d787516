namespace Garnet.Wire;

internal enum ServerSide
{
    Ours,
    Redis,
}
