namespace Garnet.Load.Traffic;

internal enum KeyOrder
{
    Uniform,
    Zipf,
    Sequence,
}
