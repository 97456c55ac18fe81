import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export interface ClosedPort extends AsyncDisposable {
  readonly port: number;
}

/**
 * Returns a loopback port that refuses connections. A connection of this process occupies it; otherwise the system would soon give it to a
 * listener of another test. It is free as soon as it is disposed.
 */
export async function holdClosedPort(): Promise<ClosedPort> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const localPort = await freePort();
  const { port } = server.address() as AddressInfo;
  const holder = connect({ port, host: '127.0.0.1', localPort, localAddress: '127.0.0.1' });
  await once(holder, 'connect');
  const [other] = await accepted;
  for (const end of [holder.unref(), other.unref()]) end.on('error', () => undefined);
  server.close();
  return {
    port: localPort,
    async [Symbol.asyncDispose]() {
      const closed = once(holder, 'close');
      // Without a reset, the port would wait for late packets.
      holder.resetAndDestroy();
      await closed;
    },
  };
}

/** The port refuses connections while this process runs. */
export async function closedPort(): Promise<number> {
  return (await holdClosedPort()).port;
}

export interface SilentPort extends AsyncDisposable {
  readonly port: number;
  close(): Promise<void>; // refuses connections from now on
}

/** The port accepts connections and never responds. */
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

const fillers = 8; // enough connections to fill the backlog of a listener with a backlog of one, on any Linux

/** Opens a port that answers no SYN, as behind a firewall that drops packets: the listener of a stopped process whose backlog is full. */
export async function createBlackHole(): Promise<BlackHole> {
  const child = fork(import.meta.filename, ['listen']);
  const [port] = (await once(child, 'message')) as [number];
  child.kill('SIGSTOP');
  const sockets = Array.from({ length: fillers }, () => openFiller(port));
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

function openFiller(port: number): { socket: Socket; connected: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  return { socket, connected: once(socket, 'connect') };
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'listen') {
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.send?.((server.address() as AddressInfo).port);
  });
}
