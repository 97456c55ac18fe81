import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatAt } from '../answers.ts';
import type { Observation } from '../client.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeObservation, findMistake, recordsOf } from '../records.ts';
import { untilPrinted } from '../until.ts';

const clients = 16;
/** A stage of a plugin that refuses its configuration when asked to, after all others were created. */
const fragile = `export const fragile = {
  name: 'fragile', description: 'Refuses.', options: { type: 'object', additionalProperties: true },
  create({ refuses }, host) {
    if (refuses) host.keep('fragile', () => { const t = setInterval(() => {}, 1000); return { [Symbol.dispose]: () => clearInterval(t) }; });
    if (refuses) throw new Error('refused on purpose');
    return {};
  },
};`;
const refuses = (yaml: string) => yaml.replace('- fragile', '- fragile: { refuses: true }');

/** Changes of gateway.yaml that cannot be loaded: wrong files, and stages that refuse after others have changed. */
const refusals: readonly ((yaml: string) => string)[] = [
  (yaml) => `${yaml}\nmodels: [oops`,
  (yaml) => yaml.replace('- log', '- log: { keep_days: x }'),
  refuses,
  (yaml) => refuses(yaml).replace('retry_share: 1,', 'retry_share: 0, first_byte_timeout: 0.001,'),
  (yaml) => refuses(yaml).replace('- log', '- log: { keep_days: 1, max_journal_bytes: 16777216, content: true }'),
  (yaml) => refuses(yaml).replace('upstreams:\n', 'upstreams:\n  extra: { vendor: demo }\n'),
];

/** gateway.yaml changes repeatedly while clients send requests; every second change is refused and has no effect. */
export const reload: Experiment = {
  name: 'reload',
  description: 'gateway.yaml is changed and reloaded under load',
  async run({ postgres, isShort, isLong }) {
    await using fixture = await openChaosFixture(postgres);
    const yaml = `plugins: [./fragile.mjs]\n${fixture.yaml.replace('- log', '- log\n  - fragile')}`;
    await writeFile(join(fixture.home.folder, 'fragile.mjs'), fragile);
    await fixture.home.write(yaml);
    const gateway = await fixture.serve();
    const client = fixture.client(gateway);
    const reloads = isShort ? 3 : isLong ? 50 : 25;
    const seen: Observation[] = [];
    const over = new AbortController();
    const load = Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        for (let turn = 0; !over.signal.aborted; turn++) {
          const format = formatAt(index + turn);
          // A reload must not break failover either.
          const model = turn % 3 === 0 ? 'status-500' : 'fine';
          seen.push(await client.ask({ format, isStream: turn % 2 === 0, model }));
        }
      }),
    );
    for (let number = 1; number <= reloads; number++) {
      await fixture.home.write(`${yaml}\naliases: { alias-${number}: fine }\n`);
      await untilPrinted(gateway, 'has been reloaded', number);
      const refuse = refusals[number % refusals.length] as (typeof refusals)[number];
      await fixture.home.write(refuse(`${yaml}\naliases: { refused-${number}: fine }\n`));
      await untilPrinted(gateway, 'the previous configuration stays active', number);
    }
    over.abort();
    await load;
    const records = await recordsOf(fixture.home.database, seen);
    const failed = seen.filter(({ ending }) => ending !== 'complete');
    return [
      noneOf(
        `requests that failed over ${reloads} reloads of gateway.yaml and ${reloads} refused ones`,
        seen.length,
        failed.map(describeObservation),
      ),
      noneOf(
        'records missing, duplicated or wrong',
        seen.length,
        seen.flatMap((observed) => findMistake(observed, records.get(observed.serial)) ?? []),
      ),
    ];
  },
};
