import pg from 'pg';
import type { GatewayProcess } from '../../support/gateway-home.ts';
import { execute, withDatabase } from '../../support/global-postgres.ts';
import type { Observation } from '../client.ts';
import { playOpen } from '../faults.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { answered, sendLoad } from '../mixed-load.ts';
import { findMistake, recordsOf } from '../records.ts';
import { until } from '../until.ts';

/** Makes a database that takes no records. @returns what puts it right */
interface Refusal {
  readonly name: string;
  begin(databaseUrl: string): Promise<() => Promise<void>>;
}

const refusals: readonly Refusal[] = [
  {
    name: 'read-only',
    async begin(url) {
      await setReadOnly(url, 'on');
      return () => setReadOnly(url, 'off');
    },
  },
  {
    name: 'table missing',
    async begin(url) {
      await execute(url, 'ALTER TABLE request_log RENAME TO request_log_elsewhere');
      return () => execute(url, 'ALTER TABLE request_log_elsewhere RENAME TO request_log');
    },
  },
  { name: 'table locked', begin: lockTable },
];

/** The database responds but takes no records: requests are served, the verdict says so, and every record arrives afterwards. */
export const unwritableDatabase: Experiment = {
  name: 'unwritable-database',
  description: 'a database that takes no records is reported, and has every record afterwards',
  async run({ postgres, isShort, print }) {
    await using fixture = await openChaosFixture(postgres, { plays: { 'stays-open': playOpen } });
    const gateway = await fixture.serve();
    const seen: Observation[] = [];
    const lies: string[] = [];
    const over = new AbortController();
    const load = sendLoad(fixture.client(gateway), seen, { signal: over.signal, isShort });
    const chosen = isShort ? refusals.slice(0, 1) : refusals;
    try {
      for (const refusal of chosen) {
        await untilVerdict(gateway, 'ok');
        const before = seen.length;
        lies.push(...(await refuse(fixture, gateway, refusal)));
        print(`  ${refusal.name}: ${seen.length - before} requests`);
      }
      await untilVerdict(gateway, 'ok');
    } finally {
      over.abort();
      await load;
    }
    await gateway.end('SIGTERM');
    const found = await recordsOf(fixture.home.database, seen);
    const mistakes = seen.flatMap((observed) => findMistake(observed, found.get(observed.serial)) ?? []);
    return [
      noneOf('records missing, duplicated or wrong after the database refused them', answered(seen).length, mistakes),
      noneOf('refusals that were not reported, or made /readyz fail', chosen.length, lies),
    ];
  },
};

async function refuse({ home }: ChaosFixture, gateway: GatewayProcess, { name, begin }: Refusal): Promise<string[]> {
  const putRight = await begin(home.databaseUrl);
  try {
    await untilVerdict(gateway, 'degraded');
    const { status } = await fetch(`${gateway.url}/readyz`);
    return status === 200 ? [] : [`${name}: /readyz returned ${status}`];
  } catch (error) {
    return [`${name}: ${String(error)}`];
  } finally {
    await putRight();
  }
}

async function untilVerdict({ operatorUrl }: GatewayProcess, wanted: string): Promise<void> {
  let verdict = '';
  const look = async () => {
    const reply = await fetch(`${operatorUrl}/readyz?verbose`);
    const { checks } = (await reply.json()) as { checks: { name: string; ok: boolean }[] };
    verdict = checks.find(({ name }) => name === 'records')?.ok === true ? 'ok' : 'degraded';
  };
  const timer = setInterval(() => void look().catch(() => undefined), 200);
  try {
    await until(() => verdict === wanted, `the check of records to be ${wanted}`);
  } finally {
    clearInterval(timer);
  }
}

async function setReadOnly(url: string, value: 'on' | 'off'): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const admin = withDatabase(url, 'postgres');
  await execute(admin, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
  await execute(
    admin,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND application_name = 'daypass'`,
  );
}

/** Holds the lock in a session of its own. */
async function lockTable(url: string): Promise<() => Promise<void>> {
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  await session.query('BEGIN');
  await session.query('LOCK TABLE request_log IN SHARE MODE');
  return () => session.end();
}
