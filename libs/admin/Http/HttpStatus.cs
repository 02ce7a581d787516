namespace Garnet.Admin.Http;

/// <summary>What can be answered.</summary>
internal enum HttpStatus
{
    Ok = 200,
    SeeOther = 303,
    BadRequest = 400,
    Unauthorized = 401,
    Forbidden = 403,
    NotFound = 404,
    MethodNotAllowed = 405,
    ContentTooLarge = 413,
    MisdirectedRequest = 421,
    RequestHeaderFieldsTooLarge = 431,
    ServiceUnavailable = 503,
}
