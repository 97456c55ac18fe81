import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A way to a server that can be taken away: `cut` resets what is open and refuses what comes, `stall` keeps everything
 * open and moves no byte, `open` is as if nothing stood between.
 */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  turn(mode: ProxyMode): void;
  /** Connections that are open stay so and say nothing more; new ones are as the mode says. */
  freeze(): void;
}

export type ProxyMode = 'open' | 'cut' | 'stall';

/** Starts a proxy on loopback, open. */
export async function createTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let mode: ProxyMode = 'open';

  const server = createServer((near) => {
    if (mode === 'cut') return void near.resetAndDestroy();
    const far = connect(target.port, target.host);
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.once('close', () => {
        pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
    near.pipe(far).pipe(near);
    if (mode === 'stall') for (const socket of pair) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const turn = (next: ProxyMode) => {
    mode = next;
    for (const pair of pairs) {
      for (const socket of pair) {
        if (next === 'cut') socket.resetAndDestroy();
        else if (next === 'stall') socket.pause();
        else socket.resume();
      }
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    turn,
    freeze() {
      for (const socket of [...pairs].flat()) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      turn('cut');
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
