import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { writeAnswer } from '../answers.ts';
import type { Client, Observation } from '../client.ts';
import { type Experiment, type Figure, inParallel, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { describeObservation, findMistake, recordsOf } from '../records.ts';
import type { ScriptedName, ScriptedNames } from '../scripted-names.ts';

/** Requests to the first slow name, and further slow names with one request each. */
const slowRequests = 20;
const slowNames = 50;
/** Ms that the slow names take. */
const slow = 5_000;
/** Ms after which an answer of a name is asked for again, with a reserve. */
const fresh = 31_000;
/** Ms after which steady traffic must have followed a name: its answer and the age of a connection. */
const followed = 90_000;
/** Ms for a request whose name is known, on a busy machine. */
const prompt = 1_000;

/** Name servers that are slow, silent or failing, and a name that moves. Each request opens a connection of its own. */
export const names: Experiment = {
  name: 'names',
  isPatient: true,
  description: 'name servers are slow, silent or failing, and a name moves under steady traffic',
  async run({ postgres, isShort, print }) {
    await using fixture = await openChaosFixture(postgres, {
      plays: { once: ({ response, answer }) => response.json(200, answer.whole, { connection: 'close' }) },
    });
    const scripted = await scriptNames(fixture);
    await writeYaml(fixture);
    const client = fixture.client(await startByName(fixture, scripted.environment));
    const figures = [...(await besideSlowNames(fixture, client, isShort ? 60 : 500))];
    if (isShort) return figures;
    const { port } = new URL(fixture.upstream.url);
    await using moved = await openSecondAddress(Number(port));
    const steady = steadyTraffic(client);
    await elapse(fresh);
    print('  the name server is silent');
    await scripted.set({ 'healthy.test': { delay: null }, 'slow-0.test': { delay: null } });
    figures.push(...(await besideSilence(client)));
    print('  the name server fails, and a name moves');
    await scripted.set({ 'healthy.test': { code: 'EAI_AGAIN' }, 'moving.test': { address: '127.0.0.2' } });
    const movedAt = performance.now();
    figures.push(...lostOf('known names, failing name server', await askMany(client, 'healthy', 200)));
    await elapse(followed + 10_000);
    const seen = await steady.end();
    figures.push(...lostOf('steady traffic to a name that moved', seen));
    const late = seen.filter(({ sentAt, text }) => sentAt > movedAt + followed && !text.startsWith('moved'));
    figures.push(
      noneOf(
        `at the old address ${followed / 1000} s after a name moved`,
        moved.served(),
        late.map(describeObservation),
      ),
    );
    return figures;
  },
};

/** A healthy host, `localhost` and the database by name, while other names are slow. */
async function besideSlowNames(fixture: ChaosFixture, client: Client, count: number): Promise<Figure[]> {
  const ask = (model: string) => client.ask({ format: 'chat', isStream: false, model });
  await Promise.all([ask('healthy'), ask('local')]);
  const stuck = [
    ...Array.from({ length: slowRequests }, () => ask('slow-0')),
    ...Array.from({ length: slowNames }, (_, index) => ask(`slow-${index + 1}`)),
  ];
  // The slow lookups are under way.
  await elapse(300);
  const [healthy, local, backed] = await Promise.all([
    askMany(client, 'healthy', count),
    askMany(client, 'local', count / 4),
    askMany(client, 'backed', count / 4),
  ]);
  const slowOnes = await Promise.all(stuck);
  const seen = [...healthy, ...local, ...backed, ...slowOnes];
  const records = await recordsOf(fixture.home.database, seen);
  const mistakes = seen.map((one) => findMistake(one, records.get(one.serial))).filter((one) => one !== undefined);
  const met = slowOnes.filter(({ sentAt, endedAt }) => endedAt - sentAt > prompt);
  const late = [...healthy, ...local].filter(({ sentAt, endedAt }) => endedAt - sentAt > prompt);
  return [
    ...lostOf(`healthy host, while ${slowNames + 1} names are slow`, healthy),
    ...lostOf('localhost, the same', local),
    ...lostOf('healthy backup of a slow name', backed),
    {
      ...noneOf(`slower than ${prompt} ms of both`, healthy.length + local.length, late.map(describeObservation)),
      isTimed: true,
      limit: { ms: prompt, of: 'elapsed' },
    },
    noneOf('records missing or wrong, with a database by name', seen.length, mistakes),
    {
      name: 'requests that met a slow name',
      count: stuck.length,
      seen: String(met.length),
      aim: 'all',
      isMet: met.length === stuck.length,
    },
  ];
}

/** A known name keeps its address; an unknown one fails with an error of its own. */
async function besideSilence(client: Client): Promise<Figure[]> {
  const [known, unknown] = await Promise.all([askMany(client, 'healthy', 200), askMany(client, 'unknown', 5)]);
  const wrong = unknown.filter(({ ending, status }) => ending !== 'refused' || status !== 502);
  return [
    ...lostOf('known names, silent name server', known),
    noneOf('unknown names without an error, the same', unknown.length, wrong.map(describeObservation)),
  ];
}

function lostOf(what: string, seen: readonly Observation[]): Figure[] {
  const lost = seen.filter(({ ending }) => ending !== 'complete');
  return [noneOf(`lost: ${what}`, seen.length, lost.map(describeObservation))];
}

function askMany(client: Client, model: string, count: number): Promise<Observation[]> {
  return inParallel(count, 4, () => client.ask({ format: 'chat', isStream: false, model }));
}

/** One request after the other to `moving`, over connections that stay in use. */
function steadyTraffic(client: Client) {
  const seen: Observation[] = [];
  const over = new AbortController();
  const running = (async () => {
    while (!over.signal.aborted) {
      seen.push(await client.ask({ format: 'chat', isStream: false, model: 'moving' }));
      await elapse(50);
    }
  })();
  return {
    async end(): Promise<readonly Observation[]> {
      over.abort();
      await running;
      return seen;
    },
  };
}

/** The upstream's port at the address that `moving` gets. Every address in 127.0.0.0/8 is this machine, on Linux. */
async function openSecondAddress(port: number) {
  let served = 0;
  const server: Server = createServer((_request, response) => {
    served++;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(writeAnswer('chat', `moved-${served}`).whole));
  });
  await once(server.listen(port, '127.0.0.2'), 'listening');
  return {
    served: () => served,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The file of the scripted names, and what makes a gateway read it. */
export async function scriptNames({ home }: ChaosFixture) {
  const file = join(home.folder, 'names.json');
  const here = { address: '127.0.0.1' };
  let all: ScriptedNames = {
    'healthy.test': here,
    'moving.test': here,
    'database.test': here,
    'unknown.test': { ...here, delay: null },
  };
  for (let index = 0; index <= slowNames; index++) all = { ...all, [`slow-${index}.test`]: { ...here, delay: slow } };
  const set = async (changes: Readonly<Record<string, Partial<ScriptedName>>>) => {
    const changed = Object.entries(changes).map(([name, change]) => [name, { ...here, ...change }] as const);
    all = { ...all, ...Object.fromEntries(changed) };
    await writeFile(`${file}.new`, JSON.stringify(all));
    await rename(`${file}.new`, file);
  };
  await set({});
  const preload = join(import.meta.dirname, '..', 'scripted-names.ts');
  return { set, environment: { SCRIPTED_NAMES: file, NODE_OPTIONS: `--import ${preload}` } };
}

/** A gateway whose database has a name as well. */
function startByName({ home, database }: ChaosFixture, environment: Record<string, string>) {
  const url = new URL(home.databaseUrl);
  url.host = `database.test:${database.port}`;
  return home.start({ ...environment, DATABASE_URL: url.href });
}

function writeYaml({ home, upstream, yaml }: ChaosFixture): Promise<void> {
  const { port } = new URL(upstream.url);
  const slowHosts = Array.from({ length: slowNames + 1 }, (_, index) => `slow-${index}`);
  const hosts = ['healthy', 'moving', 'unknown', ...slowHosts];
  const upstreams = hosts.map((name) => `  ${name}: { format: chat, base_url: "http://${name}.test:${port}/v1" }`);
  const models = hosts.map((name) => `  ${name}: { routes: [${name}/${name === 'moving' ? 'fine' : 'once'}] }`);
  models.push('  local: { routes: [local/once] }', '  backed: { routes: [slow-1/once, healthy/once] }');
  upstreams.push(`  local: { format: chat, base_url: "http://localhost:${port}/v1" }`);
  return home.write(
    yaml
      .replace('\nupstreams:\n', `\nupstreams:\n${upstreams.join('\n')}\n`)
      .replace('\nmodels:\n', `\nmodels:\n${models.join('\n')}\n`),
  );
}

function elapse(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
