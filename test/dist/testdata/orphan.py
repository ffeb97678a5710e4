"""Starts a server, prints where it is, and goes on until it is killed."""

import threading

import monotable

server = monotable.start(memory=True)
print(server.endpoint, flush=True)
threading.Event().wait()
