/**
 * `npm run bench:scale`: how much one machine can handle, in runs long enough to see it. Linux only; needs an otherwise idle machine.
 * docs/scaling.md has the figures.
 *
 *     npm run bench:scale -- limit --minutes 10       small calls as fast as one gateway serves them: rate, tail latency, lost records
 *     npm run bench:scale -- records --folder FOLDER --rows 30000000 --rate 2000 --minutes 10 --memory 2048
 *                                                     records of that many requests per second, into a partition with that many rows; the
 *                                                     folder is filled once, and PostgreSQL gets that many MB (as root, cgroup v1)
 *     npm run bench:scale -- memory --megabytes 512   bodies and streams of a gateway that shares that much memory with its PostgreSQL;
 *                                                     `--checkout FOLDER`: those of another version
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureLimit } from './limit.ts';
import { measureMemory } from './memory.ts';
import { measureRecords } from './records.ts';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    folder: { type: 'string', default: '.bench-scale' },
    rows: { type: 'string', default: '30000000' },
    rate: { type: 'string', default: '2000' },
    memory: { type: 'string' },
    megabytes: { type: 'string', default: '512' },
    checkout: { type: 'string', default: '.' },
  },
});
const minutes = Number(flags.minutes);

switch (positionals[0]) {
  case 'limit':
    await measureLimit(minutes);
    break;
  case 'records':
    await measureRecords({
      folder: flags.folder,
      rows: Number(flags.rows),
      rate: Number(flags.rate),
      minutes,
      megabytes: flags.memory === undefined ? undefined : Number(flags.memory),
    });
    break;
  case 'memory':
    await measureMemory(Number(flags.megabytes), resolve(flags.checkout));
    break;
  default:
    console.error('Usage: npm run bench:scale -- limit | records | memory');
    process.exit(2);
}
process.exit(0);
