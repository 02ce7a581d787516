"""redis-py behind a Sentinel: sentinel.py PORT. Prints 'failover' and reads a line when that is done. Ends with 77 when something needed is missing."""
import sys
import time

try:
    import redis
    from redis.sentinel import Sentinel
except ImportError:
    print("redis-py is not installed")
    sys.exit(77)

DEADLINE = time.monotonic() + 60


def until(step):
    while True:
        try:
            if step():
                return
        except (redis.ConnectionError, redis.TimeoutError, redis.ReadOnlyError):
            pass
        except redis.ResponseError as e:
            if not str(e).startswith("TRYAGAIN"):  # a replica on a busy machine
                raise
        assert time.monotonic() < DEADLINE, "waited in vain"


sentinel = Sentinel([("127.0.0.1", int(sys.argv[1]))], socket_timeout=5)
primary = sentinel.master_for("mymaster")
replica = sentinel.slave_for("mymaster")
before = sentinel.discover_master("mymaster")
assert len(sentinel.discover_slaves("mymaster")) == 2
assert primary.set("py:s", "1")
until(lambda: replica.get("py:s") == b"1")
print("failover", flush=True)
sys.stdin.readline()
until(lambda: primary.set("py:s", "2"))
until(lambda: replica.get("py:s") == b"2")
assert sentinel.discover_master("mymaster") != before
