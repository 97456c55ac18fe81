import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import type { GatewayProcess } from '../../support/gateway-home.ts';
import { playOpen } from '../faults.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeObservation } from '../records.ts';

const connections = 5;
/** MB that the process may grow by. All requests of one connection at once take 1,400. */
const mayGrow = 150;
/** Ms within which `/livez` answers. */
const lively = 500;

const paths = ['/', '/status.json', '/v1/models', '/livez', '/status/live'];

/** Clients send thousands of requests on a connection without waiting for a response. */
export const pipelining: Experiment = {
  name: 'pipelining',
  description: `${connections} connections with 20,000 requests each, whose responses are read or not`,
  async run({ postgres, isShort }) {
    await using fixture = await openChaosFixture(postgres, { plays: { 'stays-open': playOpen } });
    const gateway = await fixture.serve({ NODE_OPTIONS: '--max-old-space-size=256' });
    const client = fixture.client(gateway);
    await client.ask({ format: 'chat', model: 'fine', isStream: false });
    const before = await residentMegabytes(gateway);
    let most = before;
    const waits: number[] = [];
    const others: string[] = [];
    for (const path of isShort ? paths.slice(0, 2) : paths) {
      for (const isRead of [true, false]) {
        using _flood = flood(gateway.url, path, isRead);
        for (let asked = 0; asked < 10; asked++) {
          waits.push(await livezTakes(gateway.url));
          const observed = await client.ask({ format: 'chat', model: 'fine', isStream: asked % 2 === 0 });
          if (observed.ending !== 'complete') others.push(describeObservation(observed));
          most = Math.max(most, await residentMegabytes(gateway));
        }
      }
    }
    const grown = Math.round(most - before);
    const slow = waits.filter((wait) => wait > lively);
    const slowest = Math.round(Math.max(...waits));
    return [
      noneOf('other requests that were not answered', waits.length, others),
      { name: 'MB grown by', count: waits.length, seen: `${grown}`, aim: `${mayGrow}`, isMet: grown <= mayGrow },
      {
        name: `/livez slower than ${lively} ms`,
        count: waits.length,
        seen: `${slow.length}, the slowest ${slowest} ms`,
        aim: '0',
        isMet: slow.length === 0,
        isTimed: true,
        limit: { ms: lively, of: 'elapsed' },
      },
    ];
  },
};

/** Sends 20,000 requests on each connection, as long as the gateway takes them. */
export function flood(url: string, path: string, isRead: boolean): Disposable {
  const { hostname, port } = new URL(url);
  const requests = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(20_000);
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    if (isRead) socket.resume();
    socket.write(requests);
    return socket;
  });
  return { [Symbol.dispose]: () => sockets.forEach((socket) => socket.destroy()) };
}

async function livezTakes(url: string): Promise<number> {
  const began = performance.now();
  const { status } = await fetch(`${url}/livez`);
  return status === 200 ? performance.now() - began : Number.POSITIVE_INFINITY;
}

async function residentMegabytes({ process: { pid } }: GatewayProcess): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
