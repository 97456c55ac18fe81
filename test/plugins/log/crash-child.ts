import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger } from '#core/platform/logger.ts';
import type { RecordStore } from '../../../plugins/log/record-store.ts';
import { RequestLog } from '../../../plugins/log/request-log.ts';
import { arrive, identify, outcome } from './fixture.ts';

/*
 * An instance under load that somebody kills. What it has answered, and what it leaves running, it writes down at the
 * moment at which a client would see it; what it has shipped stands in a file that takes the place of the database.
 */
const [dataFolder = '', instance = ''] = process.argv.slice(2);
const answered = openSync(join(dataFolder, 'answered'), 'a');
const running = openSync(join(dataFolder, 'running'), 'a');
// A file of its own: the kill may cut its last line, to which the lines of the next instance must not be added.
const shipped = openSync(join(dataFolder, `shipped-${instance}`), 'a');

// The pipe ends with the test, also with one that was killed.
process.stdin.once('end', () => process.exit()).resume();

const store: RecordStore = {
  async insert(from, records) {
    writeSync(shipped, records.map((record) => `${from}\t${record}\n`).join(''));
  },
  async insertContent() {},
  async addUnauthenticated() {},
  async probe() {},
};

const { journal } = new RequestLog({ dataFolder, instance, store, log: createLogger(() => {}), segmentAgeMs: 20 });

for (let round = 0; ; round++) {
  const exchanges = Array.from({ length: 8 }, (_, index) => {
    const id = `req_${instance}_${round}_${index}`;
    const exchange = identify(arrive({ id }));
    journal.begin(exchange);
    journal.enter(exchange);
    return exchange;
  });
  // The host waits for it before it sends, and for an upstream often.
  await Promise.all(exchanges.map((exchange) => journal.whenWritten(exchange)));
  if (round % 3 === 0) await turn();
  for (const [index, exchange] of exchanges.entries()) {
    const isLeftRunning = index === 7 && round % 16 === 0;
    writeSync(isLeftRunning ? running : answered, `${exchange.id}\n`);
    if (!isLeftRunning) journal.end(exchange, outcome());
  }
  await turn();
}
