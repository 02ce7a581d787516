"""Values of megabytes in a Garnet server, over libgarnet-client.

Where the server reaches this process's memory (it is on this machine, and of the same user) it reads and writes in the buffers; elsewhere the
bytes go over the connection, with the same calls and results::

    from garnet_client import Client

    with Client() as client:
        with client.allocate(64 << 20) as buffer:
            buffer.memory[:4] = b"abcd"
            stored = client.put("model", buffer)
            there = client.get("model", buffer, if_version=stored.version)

``client.register(array)`` takes memory that is there already: a bytearray, a numpy array, whatever can be written to as a buffer.
A client is for one thread at a time.
"""

import ctypes
import os
import sys
from typing import List, NamedTuple, Optional, Sequence, Union

__all__ = ["Buffer", "Client", "ClientError", "Fetched", "Item", "Stored"]

_NOTHING, _IF_ABSENT, _IF_PRESENT, _HAS_AT, _HAS_CRC = 1, 1, 2, 4, 8


class ClientError(Exception):
    """What the server, or the library, says; ``code`` is the error's first word (``BULKVER``), empty without one."""

    def __init__(self, why: str):
        super().__init__(why)
        word = why.split(" ", 1)[0]
        self.code = word if word.isupper() else ""


class Stored(NamedTuple):
    """The version of the whole value, and the CRC-32C of the bytes that came."""

    version: str
    crc: int


class Fetched(NamedTuple):
    """Bytes that came, bytes that the value has, its version, and the CRC-32C of those that came."""

    length: int
    total: int
    version: str
    crc: int


class Item(NamedTuple):
    """A key, and the place in a buffer from which its value is put, or into which it is got; to the buffer's end without a length."""

    key: Union[str, bytes]
    buffer: "Buffer"
    offset: int = 0
    length: Optional[int] = None


class _Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("timeout", ctypes.c_uint32), ("host", ctypes.c_char_p), ("port", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("user", ctypes.c_char_p), ("password", ctypes.c_char_p), ("providers", ctypes.c_char_p)]


class _PutOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("at", ctypes.c_uint64), ("expires", ctypes.c_uint64),
                ("if_version", ctypes.c_char_p), ("crc", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class _Stored(ctypes.Structure):
    _fields_ = [("version", ctypes.c_char * 32), ("crc", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class _GetOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("start", ctypes.c_uint64), ("length", ctypes.c_uint64),
                ("if_version", ctypes.c_char_p)]


class _Fetched(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint64), ("total", ctypes.c_uint64), ("version", ctypes.c_char * 32), ("crc", ctypes.c_uint32),
                ("missing", ctypes.c_uint32)]


class _Item(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("key", ctypes.c_char_p), ("key_bytes", ctypes.c_uint64),
                ("buffer", ctypes.c_void_p), ("offset", ctypes.c_uint64), ("length", ctypes.c_uint64)]


def _open() -> ctypes.CDLL:
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libgarnet-client.so")
    named = os.environ.get("GARNET_CLIENT_LIBRARY")
    library = ctypes.CDLL(named or (beside if os.path.exists(beside) else "libgarnet-client.so"))
    pointer, number = ctypes.c_void_p, ctypes.c_uint64
    library.gc_connect.argtypes = [ctypes.POINTER(_Config), ctypes.POINTER(pointer), ctypes.c_char_p, number]
    library.gc_provider.argtypes = library.gc_error.argtypes = library.gc_close.argtypes = library.gc_release.argtypes = [pointer]
    library.gc_provider.restype = library.gc_error.restype = ctypes.c_char_p
    library.gc_close.restype = None
    library.gc_allocate.argtypes = [pointer, number, ctypes.POINTER(pointer)]
    library.gc_register.argtypes = [pointer, pointer, number, ctypes.POINTER(pointer)]
    library.gc_memory.argtypes = [pointer, ctypes.POINTER(number)]
    library.gc_memory.restype = pointer
    library.gc_put.argtypes = [pointer, ctypes.c_char_p, number, pointer, number, number, ctypes.POINTER(_PutOptions), ctypes.POINTER(_Stored)]
    library.gc_get.argtypes = [pointer, ctypes.c_char_p, number, pointer, number, number, ctypes.POINTER(_GetOptions), ctypes.POINTER(_Fetched)]
    library.gc_put_many.argtypes = [pointer, ctypes.POINTER(_Item), number, ctypes.POINTER(_PutOptions), ctypes.POINTER(_Stored)]
    library.gc_get_many.argtypes = [pointer, ctypes.POINTER(_Item), number, ctypes.POINTER(_Fetched)]
    return library


_library: Optional[ctypes.CDLL] = None


def _bytes(text: Union[str, bytes, None]) -> Optional[bytes]:
    return text.encode() if isinstance(text, str) else text


class Buffer:
    """Memory that values go from and come to; ``memory`` is a writable view of it. While a call with it is under way it is the server's too."""

    def __init__(self, client: "Client", handle: ctypes.c_void_p, keeps: object):
        size = ctypes.c_uint64()
        at = _library.gc_memory(handle, ctypes.byref(size))
        self._client, self._handle, self._keeps = client, handle, keeps
        # Its own memory goes with it, so nobody may be left with a view of it (release).
        self._own = (ctypes.c_char * size.value).from_address(at) if keeps is None else None
        self.memory = memoryview(self._own).cast("B") if keeps is None else keeps
        client._buffers.add(self)

    def __len__(self) -> int:
        return self.memory.nbytes

    def release(self) -> None:
        """The server is not at the memory any more when it returns. BufferError: somebody keeps a part of ``memory``, and nothing has happened."""
        if self._handle is None:
            return
        self.memory.release()
        if self._own is not None and sys.getrefcount(self._own) > 2:  # this object's, and the call's; each view that is left has one
            self.memory = memoryview(self._own).cast("B")
            raise BufferError("a part of the buffer's memory is in use")
        handle, self._handle = self._handle, None
        self._client._buffers.discard(self)
        self._client._check(_library.gc_release(handle))

    def __enter__(self) -> "Buffer":
        return self

    def __exit__(self, *_) -> None:
        self.release()


class Client:
    """A connection to a server. ``host`` may be the path of a Unix socket; ``timeout`` is in seconds, of each call; ``provider`` says what carries the bytes."""

    def __init__(self, host: str = "127.0.0.1", port: int = 6379, *, user: Optional[str] = None, password: Optional[str] = None,
                 providers: str = "local,inline", timeout: float = 60):
        global _library
        self._handle = ctypes.c_void_p()
        self._buffers = set()
        if _library is None:
            _library = _open()
        config = _Config(ctypes.sizeof(_Config), max(1, int(timeout * 1000)), _bytes(host), port, 0, _bytes(user), _bytes(password), _bytes(providers))
        why = ctypes.create_string_buffer(512)
        if _library.gc_connect(ctypes.byref(config), ctypes.byref(self._handle), why, len(why)) != 0:
            self._handle = ctypes.c_void_p()
            raise ClientError(why.value.decode(errors="replace"))
        self.provider = _library.gc_provider(self._handle).decode()

    def allocate(self, size: int) -> Buffer:
        """Memory that the server reaches as fast as its own, filled with zeros."""
        return self._buffer(lambda handle: _library.gc_allocate(self._open_handle(), size, handle), None)

    def register(self, memory: object) -> Buffer:
        """Memory that is there already and can be written to; the kernel copies from and to it, at a third of the speed."""
        view = memoryview(memory).cast("B")
        place = (ctypes.c_char * view.nbytes).from_buffer(view)
        return self._buffer(lambda handle: _library.gc_register(self._open_handle(), ctypes.addressof(place), view.nbytes, handle), view)

    def put(self, key: Union[str, bytes], buffer: Buffer, offset: int = 0, length: Optional[int] = None, *, at: Optional[int] = None,
            if_absent: bool = False, if_present: bool = False, if_version: Optional[str] = None, expires: Optional[float] = None,
            crc: Optional[int] = None) -> Optional[Stored]:
        """Sets the value to bytes of the buffer; None if ``if_absent`` or ``if_present`` does not hold. ``expires`` is in seconds; ``at`` writes a part."""
        flags = (_IF_ABSENT if if_absent else 0) | (_IF_PRESENT if if_present else 0) | (_HAS_AT if at is not None else 0) | (_HAS_CRC if crc is not None else 0)
        options = _PutOptions(ctypes.sizeof(_PutOptions), flags, at or 0, 0 if expires is None else max(1, int(expires * 1000)), _bytes(if_version), crc or 0)
        stored = _Stored()
        name, size = _bytes(key), len(buffer) - offset if length is None else length
        status = _library.gc_put(self._open_handle(), name, len(name), buffer._handle, offset, size, ctypes.byref(options), ctypes.byref(stored))
        return Stored(stored.version.decode(), stored.crc) if self._check(status) else None

    def get(self, key: Union[str, bytes], buffer: Buffer, offset: int = 0, capacity: Optional[int] = None, *, start: int = 0,
            length: Optional[int] = None, if_version: Optional[str] = None) -> Optional[Fetched]:
        """Bytes of the value, from ``start`` on, come to the buffer; None if there is no such key."""
        options = _GetOptions(ctypes.sizeof(_GetOptions), 0, start, length or 0, _bytes(if_version))
        fetched = _Fetched()
        name, room = _bytes(key), len(buffer) - offset if capacity is None else capacity
        status = _library.gc_get(self._open_handle(), name, len(name), buffer._handle, offset, room, ctypes.byref(options), ctypes.byref(fetched))
        return Fetched(fetched.length, fetched.total, fetched.version.decode(), fetched.crc) if self._check(status) else None

    def put_many(self, items: Sequence[Item], *, if_absent: bool = False, if_present: bool = False,
                 expires: Optional[float] = None) -> Optional[List[Stored]]:
        """Sets up to 64 values, all of which take effect together, or none does; None if the condition does not hold for one of them."""
        flags = (_IF_ABSENT if if_absent else 0) | (_IF_PRESENT if if_present else 0)
        options = _PutOptions(ctypes.sizeof(_PutOptions), flags, 0, 0 if expires is None else max(1, int(expires * 1000)), None, 0)
        stored = (_Stored * len(items))()
        status = _library.gc_put_many(self._open_handle(), self._items(items), len(items), ctypes.byref(options), stored)
        return [Stored(one.version.decode(), one.crc) for one in stored] if self._check(status) else None

    def get_many(self, items: Sequence[Item]) -> List[Optional[Fetched]]:
        """Gets up to 64 values, all as they were at one moment; None where there is no such key, or it holds no string."""
        fetched = (_Fetched * len(items))()
        self._check(_library.gc_get_many(self._open_handle(), self._items(items), len(items), fetched))
        return [None if one.missing else Fetched(one.length, one.total, one.version.decode(), one.crc) for one in fetched]

    @staticmethod
    def _items(items: Sequence[Item]):
        own = (_Item * len(items))()
        for to, item in zip(own, items):
            name = _bytes(item.key)
            size = len(item.buffer) - item.offset if item.length is None else item.length
            to.size, to.key, to.key_bytes, to.buffer, to.offset, to.length = ctypes.sizeof(_Item), name, len(name), item.buffer._handle, item.offset, size
        return own

    def close(self) -> None:
        """Ends the connection, behind the buffers."""
        if not self._handle:
            return
        for buffer in list(self._buffers):
            try:
                buffer.release()
            except ClientError:
                pass  # the connection is gone, and with it the server from the memory
            except BufferError:
                buffer._handle = None  # its memory stays for as long as the process does
        handle, self._handle = self._handle, ctypes.c_void_p()
        _library.gc_close(handle)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _open_handle(self) -> ctypes.c_void_p:
        if not self._handle:
            raise ClientError("the client is closed")
        return self._handle

    def _buffer(self, make, keeps) -> Buffer:
        handle = ctypes.c_void_p()
        self._check(make(ctypes.byref(handle)))
        return Buffer(self, handle, keeps)

    def _check(self, status: int) -> bool:
        if status < 0:
            raise ClientError(_library.gc_error(self._handle).decode(errors="replace"))
        return status != _NOTHING
