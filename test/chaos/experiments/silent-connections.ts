import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '#core/platform/database/database.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { createTlsUpstream, testCertificate } from '../../support/tls-upstream.ts';
import { writeAnswer } from '../answers.ts';
import type { Client, Observation } from '../client.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { describeAttempts, describeObservation, recordsOf, type RequestRecord } from '../records.ts';

const clients = 20;
/** Requests that may be lost each time that the connections of a route without a backup go silent. */
const maxLost = 2;
/**
 * Ms after which a connection takes requests again: it rests after its answer. A round of requests on new connections only does not
 * find out that the others went silent.
 */
const rest = 100;
/**
 * Rounds until a request meets a silent connection: on a busy machine they rest for longer. Each has twice as many requests, because the
 * connections that answered last, which are the new ones, are used first.
 */
const tries = 4;
/** Seconds; the second attempts of all clients must be answered in it, on a busy machine as well. */
const firstByteTimeout = 2;

/** All open connections to a TLS upstream go silent at once; new ones work. */
export const silentConnections: Experiment = {
  name: 'silent-connections',
  description: 'all connections to an upstream with TLS and HTTP/2 go silent, again and again',
  async run({ postgres, isShort }) {
    const rounds = isShort ? 1 : 10;
    await using resources = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'daypass-chaos-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    const certificate = join(folder, 'certificate.pem');
    await writeFile(certificate, testCertificate);
    const upstream = resources.use(await createTlsUpstream(() => writeAnswer('chat', 'fine-1').whole));
    const proxy = resources.use(await createTcpProxy({ host: '127.0.0.1', port: upstream.port }));
    const fixture = resources.use(await openChaosFixture(postgres));
    const route = `{ to: silent/fine, first_byte_timeout: ${firstByteTimeout} }`;
    await fixture.home.write(
      fixture.yaml
        .replace(
          '\nupstreams:\n',
          `\nupstreams:\n  silent: { format: chat, base_url: "https://localhost:${proxy.port}" }\n`,
        )
        .replace(
          '\nmodels:\n',
          `\nmodels:\n  alone: { routes: [${route}] }\n  backed: { routes: [${route}, backup/fine] }\n`,
        ),
    );
    const client = fixture.client(await fixture.home.start({ NODE_EXTRA_CA_CERTS: certificate }));
    const unnoticed: Observation[][] = [];
    const seen = { alone: [] as Observation[], backed: [] as Observation[], after: [] as Observation[] };
    for (let round = 0; round < rounds; round++) {
      for (const model of ['alone', 'backed'] as const) {
        await ask(client, 'alone');
        await setTimeout(rest);
        proxy.freeze();
        const asked = await askUntilMet(client, model, fixture.home.database);
        seen[model].push(...asked.observations);
        if (!asked.hasMet) unnoticed.push(asked.observations);
        seen.after.push(...(await ask(client, 'alone')));
      }
    }
    const alone = lost(seen.alone);
    const records = await recordsOf(fixture.home.database, seen.after);
    const late = seen.after.filter(({ serial }) => records.get(serial)?.[0]?.attempts?.length !== 1);
    return [
      noneOf(
        'times that no request met a silent connection',
        2 * rounds,
        unnoticed.map(({ length }) => `${length} requests, each with one attempt`),
      ),
      {
        name: `lost to a route without a backup, ${clients} requests at once, ${rounds} times silent`,
        count: seen.alone.length,
        seen: String(alone.length),
        aim: `at most ${maxLost * rounds}`,
        isMet: alone.length <= maxLost * rounds,
        details: alone.map(describeObservation),
      },
      noneOf('lost with a backup', seen.backed.length, lost(seen.backed).map(describeObservation)),
      noneOf('lost or repeated after one had found out', seen.after.length, [
        ...lost(seen.after).map(describeObservation),
        ...late.map((observed) => `${describeObservation(observed)}, ${countAttempts(records.get(observed.serial))}`),
      ]),
    ];
  },
};

function countAttempts(records: readonly RequestRecord[] | undefined): string {
  return records === undefined ? 'without a record' : `attempts: ${records.map(describeAttempts).join('; ')}`;
}

function lost(observations: readonly Observation[]): readonly Observation[] {
  return observations.filter(({ ending }) => ending !== 'complete');
}

/**
 * Asks until a request meets a silent connection, or for a few rounds. By the record, not by a clock: a request that meets one needs
 * another attempt.
 */
async function askUntilMet(client: Client, model: string, database: Database) {
  const observations: Observation[] = [];
  for (let round = 0; round < tries; round++) {
    const asked = await ask(client, model, clients * 2 ** round);
    observations.push(...asked);
    const records = await recordsOf(database, asked);
    if (asked.some(({ serial }) => (records.get(serial)?.[0]?.attempts?.length ?? 0) > 1))
      return { observations, hasMet: true };
  }
  return { observations, hasMet: false };
}

function ask(client: Client, model: string, count = clients): Promise<Observation[]> {
  return Promise.all(Array.from({ length: count }, () => client.ask({ format: 'chat', isStream: false, model })));
}
