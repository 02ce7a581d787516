namespace Garnet.Wire;

internal enum StepKind
{
    Request,
    Raw,
    Reply,
    Until,
    Closed,
    Connection,
    Resp3,
    Only,
    Both,
}
