import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

/**
 * A proxy that can fail. `cut` resets open connections and refuses new ones, `stall` keeps connections open and forwards nothing, `open`
 * forwards everything.
 */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  turn(mode: ProxyMode): void;
  /** Open connections stop forwarding; new ones follow the mode. */
  freeze(): void;
  /** Switches to `cut` instead of forwarding the nth piece that the server sends from now on, over any connection. */
  cutAfter(answers: number): void;
  readonly isCut: Promise<void>; // once `cutAfter` has cut
  delay(milliseconds: number): void; // what the target sends from now on, in order
}

export type ProxyMode = 'open' | 'cut' | 'stall';

/** `target` is read for each connection, so that it may move. */
export async function createTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  let latency = 0; // ms
  const pairs = new Set<readonly [Socket, Socket]>();
  const cut = Promise.withResolvers<void>();
  let mode: ProxyMode = 'open';
  let answersLeft = Number.POSITIVE_INFINITY;

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
    far.on('data', () => {
      if (--answersLeft > 0) return;
      answersLeft = Number.POSITIVE_INFINITY;
      turn('cut');
      cut.resolve();
    });
    near
      .pipe(far)
      .pipe(delayBytes(() => latency))
      .pipe(near);
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
    cutAfter(answers) {
      answersLeft = answers;
    },
    isCut: cut.promise,
    delay(milliseconds) {
      latency = milliseconds;
    },
    async [Symbol.asyncDispose]() {
      turn('cut');
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Each delay starts when the bytes arrive, so delays do not add up. */
function delayBytes(latency: () => number): Transform {
  let waiting = 0;
  let before = Promise.resolve();
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      const milliseconds = latency();
      if (milliseconds === 0 && waiting === 0) return done(null, bytes);
      waiting++;
      before = Promise.all([before, waitInSteps(milliseconds)]).then(() => {
        waiting--;
        if (!this.destroyed) this.push(bytes);
      });
      done();
    },
  });
}

const stepMs = 10;

/**
 * A process that was stopped for 100 ms would see a delay of 100 ms begin and end in one turn of its event loop, and a client that counts
 * turns would not notice it.
 */
async function waitInSteps(milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= stepMs) await setTimeout(Math.min(stepMs, left));
}
