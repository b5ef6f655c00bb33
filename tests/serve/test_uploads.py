"""Uploads: never more than the limit is held, and the oldest unfinished body gives way to a new one."""

from discreet.serve.uploads import Uploads


def test_the_oldest_unfinished_body_gives_way():
    uploads = Uploads(most=100)
    bodies = [uploads.begin() for _ in range(3)]
    assert all(uploads.add(body, bytes(40)) for body in bodies)
    assert [body.given_up for body in bodies] == [True, False, False]
    assert uploads.size == 80
    assert not bodies[0].data
    assert not uploads.add(bodies[0], b"more")


def test_complete_bodies_are_kept_and_a_new_one_is_refused():
    uploads = Uploads(most=100)
    done, new = uploads.begin(), uploads.begin()
    assert uploads.add(done, bytes(90))
    done.complete = True
    assert not uploads.add(new, bytes(20))
    assert (new.given_up, done.given_up, uploads.size) == (True, False, 90)
    uploads.end(done)
    uploads.end(done)
    assert uploads.size == 0


def test_a_body_never_gives_way_to_itself_for_free():
    uploads = Uploads(most=100)
    body = uploads.begin()
    assert uploads.add(body, bytes(60))
    assert not uploads.add(body, bytes(60))
    assert uploads.size == 0
