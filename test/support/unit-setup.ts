import { ChildProcess } from 'node:child_process';
import { Server, Socket } from 'node:net';

/*
 * Enforces a rule for unit tests: a test that opens a socket or starts a process fails. It belongs in a file named `*.integration.test.ts`,
 * or under `test/e2e/` if it runs a whole gateway.
 */

function throwNotAllowed(): never {
  throw new Error('Unit tests open no sockets and start no processes; name this file *.integration.test.ts.');
}

Server.prototype.listen = throwNotAllowed;
Socket.prototype.connect = throwNotAllowed;
// `spawn` is missing from the types. Every non-blocking function of node:child_process uses it.
Object.assign(ChildProcess.prototype, { spawn: throwNotAllowed });
