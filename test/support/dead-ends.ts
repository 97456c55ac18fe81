import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A port on loopback without a listener. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface SilentPort extends AsyncDisposable {
  readonly port: number;
  /** Refuses connections from now on. */
  close(): Promise<void>;
}

/** A port that accepts connections and never answers. @param onConnection called for each of them */
export async function createSilentPort(onConnection: () => void = () => undefined): Promise<SilentPort> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  server.on('connection', onConnection);
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

/** Connections that fill the backlog of a listener with a backlog of one, on any Linux. */
const fillers = 8;

/**
 * A port that answers no SYN, like a firewall that drops packets: the listener of a stopped process, with its backlog
 * full.
 */
export async function createBlackHole(): Promise<BlackHole> {
  const child = fork(import.meta.filename, ['listen']);
  const [port] = (await once(child, 'message')) as [number];
  child.kill('SIGSTOP');
  const sockets = Array.from({ length: fillers }, () => fill(port));
  // The last ones never connect.
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
