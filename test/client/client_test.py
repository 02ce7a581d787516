"""garnet_client.py over each provider. client_test.py HOST (or the path of a socket), and GARNET_CLIENT_LIBRARY names the library."""

import os
import socket
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../libs/native/client/python"))
from garnet_client import Client, ClientError, Item  # noqa: E402

HOST = sys.argv.pop()


class Each:
    """The tests of a provider."""

    provider = ""

    def setUp(self):
        self.client = Client(HOST, providers=f"{self.provider},inline")
        self.assertEqual(self.client.provider, self.provider)

    def tearDown(self):
        self.client.close()

    def test_what_is_put_is_got(self):
        with self.client.allocate(5 << 20) as buffer, self.client.allocate(5 << 20) as other:
            value = os.urandom(5 << 20)
            buffer.memory[:] = value
            stored = self.client.put("py", buffer)
            there = self.client.get("py", other, if_version=stored.version)
            self.assertEqual((there.length, there.total, there.version, there.crc), (5 << 20, 5 << 20, stored.version, stored.crc))
            self.assertEqual(bytes(other.memory), value)

    def test_memory_of_ones_own(self):
        own = bytearray(b"abcdefghij" * 100_000)
        with self.client.register(own) as buffer:
            self.client.put("py:own", buffer, 10, 500_000)
            own[:500_000] = bytes(500_000)
            self.assertEqual(self.client.get("py:own", buffer).total, 500_000)
        self.assertEqual(bytes(own[:500_000]), b"abcdefghij" * 50_000)
        own.append(1)  # nobody holds it any more

    def test_an_array(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("there is no numpy")
        array = numpy.arange(300_000, dtype=numpy.float64).reshape(300, 1000)
        other = numpy.zeros_like(array)
        with self.client.register(array) as buffer, self.client.register(other) as into:
            self.client.put("py:array", buffer)
            self.client.get("py:array", into)
        self.assertTrue((array == other).all())

    def test_conditions_and_errors(self):
        with self.client.allocate(100) as buffer:
            buffer.memory[:] = b"x" * 100
            self.client.put("py:c", buffer)
            self.assertIsNone(self.client.put("py:c", buffer, if_absent=True))
            self.assertIsNone(self.client.get("py:nobody", buffer))
            for code, options in (("BULKVER", {"if_version": "0" * 16}), ("BULKCRC", {"crc": 7})):
                with self.assertRaises(ClientError) as raised:
                    self.client.put("py:c", buffer, **options)
                self.assertEqual(raised.exception.code, code)
            with self.assertRaises(ClientError):
                self.client.put("py:c", buffer, 50, 51)
            self.client.put("py:c", buffer, expires=0.001)
            self.client.put("py:at", buffer, 0, 10, at=3)
            self.assertEqual(self.client.get("py:at", buffer).total, 13)

    def test_several_at_once(self):
        with self.client.allocate(3 << 20) as buffer, self.client.allocate(3 << 20) as other:
            buffer.memory[:] = value = os.urandom(3 << 20)
            stored = self.client.put_many([Item("py:m1", buffer, 0, 2 << 20), Item(b"py:m2", buffer, 9)], expires=100)
            self.assertIsNone(self.client.put_many([Item("py:m3", buffer, 0, 1), Item("py:m1", buffer, 0, 1)], if_absent=True))
            there = self.client.get_many([Item("py:m1", other, 7), Item("py:m3", other, 0, 7)])
            self.assertEqual((there[0].length, there[0].version, there[0].crc), (2 << 20, *stored[0]))
            self.assertIsNone(there[1])
            self.assertEqual(bytes(other.memory[7:7 + (2 << 20)]), value[:2 << 20])
            self.assertEqual(bytes(other.memory[:7]), bytes(7))
            self.assertEqual(self.client.get("py:m2", other).total, (3 << 20) - 9)

    def test_a_view_that_is_kept_keeps_the_memory(self):
        buffer = self.client.allocate(10)
        kept = buffer.memory[2:5]
        with self.assertRaises(BufferError):
            buffer.release()
        self.client.put("py:kept", buffer)  # nothing has happened
        kept.release()
        buffer.release()
        with self.assertRaises(ValueError):
            buffer.memory[0]


class OverTheConnection(Each, unittest.TestCase):
    provider = "inline"


class InMemory(Each, unittest.TestCase):
    provider = "local"


@unittest.skipUnless("net" in os.environ.get("GARNET_TEST_FABRICS", ""), "there is no libfabric")
class OverNet(Each, unittest.TestCase):
    provider = "net"


class HostileServers(unittest.TestCase):
    """What answers with something else than the protocol, or than was asked for, ends the connection and nothing more."""

    REPLIES = (b"", b"-", b"-ERR no\r\n", b"$-7\r\n", b"$99999999999999999999\r\n", b"*1000000000\r\n", b"*1\r\n" * 100, b":\r\n", b"x" * 200_000, b"+" + b"y" * 200_000,
               b"*2\r\n$8\r\nprovider\r\n$5\r\nverbs\r\n", b"*2\r\n$8\r\nprovider\r\n*0\r\n", b"$1048577\r\n")

    def test_they_are_refused(self):
        for reply in self.REPLIES:
            self.assertRaises(ClientError, lambda: self.serve([reply], lambda client: None))

    def test_a_value_that_is_another(self):
        hello = b"*2\r\n$8\r\nprovider\r\n$6\r\ninline\r\n"
        head = b"$3\r\nlen\r\n:%d\r\n$5\r\ntotal\r\n:9\r\n$7\r\nversion\r\n$2\r\nab\r\n$3\r\ncrc\r\n:1\r\n"
        for reply in (b"*8\r\n" + head % 4, b"*10\r\n" + head % 4 + b"$5\r\nvalue\r\n$3\r\nabc\r\n", b"*10\r\n" + head % 4 + b"$5\r\nvalue\r\n$400\r\n" + b"z" * 400 + b"\r\n",
                      b"*10\r\n" + head % -1 + b"$5\r\nvalue\r\n$4\r\nabcd\r\n", b"*10\r\n" + head % 4 + b"$5\r\nvalue\r\n:4\r\n", b":4\r\n"):
            def get(client):
                with client.allocate(100) as buffer:
                    client.get("k", buffer)
            with self.assertRaises(ClientError, msg=reply):
                self.serve([hello, reply], get)

    def serve(self, replies, work):
        listener = socket.create_server(("127.0.0.1", 0))

        def answer():
            peer, _ = listener.accept()
            with peer:
                for reply in replies:
                    peer.recv(65536)
                    peer.sendall(reply)
                try:
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(65536):
                        pass
                except OSError:
                    pass  # the client has gone already

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            with Client(port=listener.getsockname()[1], providers="inline", timeout=20) as client:
                work(client)
        finally:
            listener.close()
            thread.join()


if __name__ == "__main__":
    unittest.main()
