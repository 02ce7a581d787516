using System.Runtime.InteropServices;

namespace Garnet.Common.Linux;

/// <summary>
/// Every call of OpenSSL 3 that the product makes itself, and nothing else. What they mean, and in which order they may be made, is their
/// callers' to know (server, room Tls). The framework loads the same libraries when it hashes.
/// </summary>
public static unsafe partial class LibSsl
{
    private const string Ssl = "libssl.so.3", Crypto = "libcrypto.so.3";

    public const int FiletypePem = 1;
    public const int ControlMode = 33, ControlReadAhead = 41, ControlCacheSize = 42, ControlCacheMode = 44;
    public const int ControlHostName = 55, ControlClearMode = 78;
    public const int ControlDhAuto = 118, ControlVersionMin = 123, ControlVersionMax = 124;
    public const int ModePartialWrite = 1, ModeMovingBuffer = 2, ModeAutoRetry = 4, ModeReleaseBuffers = 0x10;
    public const int CacheOff = 0, CacheServer = 2;
    public const int Tls10 = 0x301, Tls11 = 0x302, Tls12 = 0x303, Tls13 = 0x304;
    public const ulong OptionIgnoreUnexpectedEnd = 1 << 7, OptionNoTicket = 1 << 14, OptionNoCompression = 1 << 17;
    public const ulong OptionServersCiphers = 1 << 22, OptionNoRenegotiation = 1 << 30;
    public const ulong OptionNoTls10 = 1 << 26, OptionNoTls12 = 1 << 27, OptionNoTls11 = 1 << 28, OptionNoTls13 = 1 << 29;
    public const int VerifyNone = 0, VerifyPeer = 1, VerifyMustHave = 2;
    public const int ErrorSsl = 1, ErrorWantsRead = 2, ErrorWantsWrite = 3, ErrorSystem = 5, ErrorEnded = 6;
    public const int CommonName = 13;

    [LibraryImport(Ssl)] public static partial nint TLS_method();
    [LibraryImport(Ssl)] public static partial nint SSL_CTX_new(nint method);
    [LibraryImport(Ssl)] public static partial void SSL_CTX_free(nint context);
    [LibraryImport(Ssl)] public static partial nint SSL_CTX_ctrl(nint context, int control, nint number, void* pointer);
    [LibraryImport(Ssl)] public static partial ulong SSL_CTX_set_options(nint context, ulong options);
    [LibraryImport(Ssl)] public static partial nint SSL_CTX_set_timeout(nint context, nint seconds);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_set_session_id_context(nint context, byte* name, uint bytes);
    [LibraryImport(Ssl)] public static partial void SSL_CTX_set_default_passwd_cb_userdata(nint context, void* password);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_use_certificate_chain_file(nint context, byte* path);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_use_PrivateKey_file(nint context, byte* path, int type);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_check_private_key(nint context);
    [LibraryImport(Ssl)] public static partial nint SSL_CTX_get0_certificate(nint context);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_load_verify_file(nint context, byte* path);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_load_verify_dir(nint context, byte* path);
    [LibraryImport(Ssl)] public static partial nint SSL_load_client_CA_file(byte* path);
    [LibraryImport(Ssl)] public static partial void SSL_CTX_set_client_CA_list(nint context, nint names);
    [LibraryImport(Ssl)] public static partial void SSL_CTX_set_verify(nint context, int mode, nint callback);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_set_cipher_list(nint context, byte* names);
    [LibraryImport(Ssl)] public static partial int SSL_CTX_set_ciphersuites(nint context, byte* names);

    [LibraryImport(Ssl)] public static partial nint SSL_new(nint context);
    [LibraryImport(Ssl)] public static partial void SSL_free(nint session);
    [LibraryImport(Ssl)] public static partial nint SSL_ctrl(nint session, int control, nint number, void* pointer);
    [LibraryImport(Ssl)] public static partial int SSL_set_fd(nint session, int descriptor);
    [LibraryImport(Ssl)] public static partial void SSL_set_bio(nint session, nint from, nint to);
    [LibraryImport(Ssl)] public static partial void SSL_set_accept_state(nint session);
    [LibraryImport(Ssl)] public static partial void SSL_set_connect_state(nint session);
    [LibraryImport(Ssl)] public static partial int SSL_do_handshake(nint session);
    [LibraryImport(Ssl)] public static partial int SSL_read(nint session, void* to, int bytes);
    [LibraryImport(Ssl)] public static partial int SSL_write(nint session, void* from, int bytes);
    [LibraryImport(Ssl)] public static partial int SSL_shutdown(nint session);
    [LibraryImport(Ssl)] public static partial int SSL_get_error(nint session, int result);
    [LibraryImport(Ssl)] public static partial int SSL_has_pending(nint session);
    [LibraryImport(Ssl)] public static partial nint SSL_get_rbio(nint session);
    [LibraryImport(Ssl)] public static partial nint SSL_get1_peer_certificate(nint session);
    [LibraryImport(Ssl)] public static partial int SSL_get_verify_mode(nint session);
    [LibraryImport(Ssl)] public static partial nint SSL_get_verify_result(nint session);

    [LibraryImport(Crypto)] public static partial void ERR_clear_error();
    [LibraryImport(Crypto)] public static partial nuint ERR_get_error();
    [LibraryImport(Crypto)] public static partial byte* ERR_reason_error_string(nuint error);
    [LibraryImport(Crypto)] public static partial byte* X509_verify_cert_error_string(nint result);
    [LibraryImport(Crypto)] public static partial nint BIO_s_mem();
    [LibraryImport(Crypto)] public static partial nint BIO_new(nint method);
    [LibraryImport(Crypto)] public static partial ulong BIO_number_read(nint bio);
    [LibraryImport(Crypto)] public static partial int BIO_read(nint memory, void* to, int bytes);
    [LibraryImport(Crypto)] public static partial int BIO_write(nint memory, void* from, int bytes);
    [LibraryImport(Crypto)] public static partial void X509_free(nint certificate);
    [LibraryImport(Crypto)] public static partial nint X509_get0_notBefore(nint certificate);
    [LibraryImport(Crypto)] public static partial nint X509_get0_notAfter(nint certificate);
    [LibraryImport(Crypto)] public static partial nint X509_get_subject_name(nint certificate);
    [LibraryImport(Crypto)] public static partial int X509_NAME_get_index_by_NID(nint name, int kind, int behind);
    [LibraryImport(Crypto)] public static partial nint X509_NAME_get_entry(nint name, int index);
    [LibraryImport(Crypto)] public static partial nint X509_NAME_ENTRY_get_data(nint entry);
    [LibraryImport(Crypto)] public static partial int ASN1_STRING_to_UTF8(byte** text, nint value);
    [LibraryImport(Crypto)] public static partial int ASN1_TIME_diff(int* days, int* seconds, nint from, nint to);
    [LibraryImport(Crypto)] public static partial nint ASN1_TIME_set(nint into, nint unixSeconds);
    [LibraryImport(Crypto)] public static partial void ASN1_STRING_free(nint value);
    [LibraryImport(Crypto)] public static partial void CRYPTO_free(void* memory, byte* file, int line);
}
