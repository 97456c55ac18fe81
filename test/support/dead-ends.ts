import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A port on loopback on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface SilentPort extends AsyncDisposable {
  readonly port: number;
  /** From now on connections are refused. */
  close(): Promise<void>;
}

/** A port on which connections are accepted and nothing is ever answered. */
export async function createSilentPort(): Promise<SilentPort> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  return { port, close, [Symbol.asyncDispose]: close };
}

export interface BlackHole extends AsyncDisposable {
  readonly port: number;
}

/** Connections that wait in the kernel of a listener with a backlog of one; more than there is room for on any Linux. */
const fillers = 8;

/**
 * A port that answers no SYN, as a firewall that drops does: a process that listens and is stopped, with its backlog
 * full.
 */
export async function createBlackHole(): Promise<BlackHole> {
  const child = fork(import.meta.filename, ['listen']);
  const [port] = (await once(child, 'message')) as [number];
  child.kill('SIGSTOP');
  const sockets = Array.from({ length: fillers }, () => fill(port));
  // The last ones never connect, and that is the point.
  await Promise.race(sockets.map(({ connected }) => connected));
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const { socket } of sockets) socket.destroy();
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

function fill(port: number): { socket: Socket; connected: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  return { socket, connected: once(socket, 'connect') };
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'listen') {
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.send?.((server.address() as AddressInfo).port);
  });
}
