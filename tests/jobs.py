"""A long run of many jobs, dealt out to processes; a run that is broken off goes on where it stopped.

Every job has a key and leaves a record, one line of JSON in a file. The first line of the file is a fingerprint of
sources and tests; when they have changed, all jobs are done again.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path

from tests.resume import ROOT, fingerprint


def options(what, name):
    """Return a parser of the words that every long run has: how many processes, and the file of its records."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; by default one for each core")
    parser.add_argument("--file", type=Path, default=ROOT / ".soak" / f"{name}.jsonl", help="where the records are")
    parser.add_argument("--share", default="1/1", metavar="I/N", help="the I-th of N parts of the jobs, for N machines")
    parser.add_argument("--write", action="store_true", help="write the tables into docs, too")
    return parser


def part(keys, share):
    """Return every N-th key, from the I-th on: those of one machine out of N."""
    number, _, all_ = share.partition("/")
    return list(keys)[int(number) - 1 :: int(all_)]


def remembered(file, print_):
    """Return the records of a file that was written for this fingerprint, by key; start the file anew otherwise."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    if lines[:1] != [print_]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(print_ + "\n", encoding="utf-8")
        return {}
    records = {}
    for line in lines[1:]:
        try:
            key, record = json.loads(line)
        except ValueError:  # what a run wrote when it was killed
            continue
        records[key] = record
    return records


def run(work, keys, file, jobs, *, say=lambda key, record: None, print_=None):
    """Do `work(key, folder)` for every key that has no record yet; return all records by key, in the order of the keys.

    `work` is a function at the top of a module; its folder goes away at the end of the run and is its process's own to
    divide. An error in it is no record: it ends the run once what is under way has ended.
    """
    keys, done = list(keys), remembered(file, print_ or fingerprint())
    left = [key for key in keys if key not in done]
    begun = time.monotonic()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="discreet-jobs-"))
        records = stack.enter_context(file.open("a", encoding="utf-8"))
        records.write("\n")  # the line before may be half a record
        context = multiprocessing.get_context("spawn")
        pool = stack.enter_context(ProcessPoolExecutor(min(jobs, max(1, len(left))), context))
        waiting = {pool.submit(work, key, folder): key for key in left}
        try:
            while waiting:
                for each in wait(waiting, return_when=FIRST_COMPLETED).done:
                    key = waiting.pop(each)
                    done[key] = each.result()
                    records.write(json.dumps([key, done[key]]) + "\n")
                    records.flush()
                    say(key, done[key])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if left:
        sys.stdout.write(f"{len(left)} of {len(keys)} in {time.monotonic() - begun:.0f} s, {jobs} processes\n")
    return {key: done[key] for key in keys}


def rewritten(path, mark, lines):
    """Exchange what stands between two marks of a page."""
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        raise ValueError(f"{path.name} has no {begin} before {end}")
    path.write_text("\n".join([head + begin, "", *lines, "", end + tail]), encoding="utf-8")
