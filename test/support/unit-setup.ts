import { ChildProcess } from 'node:child_process';
import { Server, Socket } from 'node:net';

/*
 * Holds unit tests to their rule: a test that opens a socket or starts a process fails, and belongs into a file named
 * `*.integration.test.ts`, or under `test/e2e/` when it runs a whole gateway.
 */

function refuse(): never {
  throw new Error('Unit tests open no sockets and start no processes; name this file *.integration.test.ts.');
}

Server.prototype.listen = refuse;
Socket.prototype.connect = refuse;
// `spawn` is not in the types: every function of node:child_process that does not block goes through it.
Object.assign(ChildProcess.prototype, { spawn: refuse });
