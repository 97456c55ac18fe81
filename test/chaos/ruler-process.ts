import { createHash } from 'node:crypto';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * The process of the ruler (`ruler.ts`): a bare server that does a few ms of work for each request, and its only client. Reports how
 * long each request took, from the time at which it was due: what the machine adds to it is what it adds to a gateway.
 */

/** Ms between two requests. */
const pause = 100;
const rounds = 40;
const block = Buffer.alloc(64 * 1024, 'a');

/** About 2 ms of a core. @returns the processor time of it in ms */
function work(): number {
  const before = process.cpuUsage();
  const hash = createHash('sha256');
  for (let round = 0; round < rounds; round++) hash.update(block);
  hash.digest();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

let worked = 0;
const server = createServer((_request, response) => {
  worked = work();
  response.end('ok');
});

const agent = new Agent({ keepAlive: true });

/** @param due on the clock of performance.now() */
function measure(port: number, due: number): void {
  get({ port, host: '127.0.0.1', agent }, (response) => {
    response.resume().once('end', () => {
      process.send?.({ took: performance.now() - due, worked });
      const next = performance.now() + pause;
      setTimeout(() => measure(port, next), pause);
    });
  });
}

process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => measure((server.address() as AddressInfo).port, performance.now()));
