"""What the jobs of rq_app.py do; a worker imports them by name."""
from rq import get_current_connection
from rq.job import Job


def double(n):
    return n * 2


def total(ids):
    return sum(Job.fetch(i, connection=get_current_connection()).result for i in ids)


def fail(marker):
    get_current_connection().incr(marker)
    raise ValueError("as it should")


def note(job, connection, result):
    connection.rpush("rq:noted", str(result))
