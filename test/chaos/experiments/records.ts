import { formatAt } from '../answers.ts';
import type { Client, Saw } from '../client.ts';
import { playOpen } from '../faults.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { judge, recordsOf, type RequestRecord } from '../records.ts';
import { openChaosFixture, type ChaosFixture } from '../fixture.ts';
import { until } from '../until.ts';
import type { GatewayProcess } from '../../support/gateway-home.ts';

const clients = 32;
/** Ms before a kill in which an answer may have arrived without its end being noted: it is on record as interrupted. */
const lastMoment = 1_000;
/** Ms for which clients go on after a gateway was told to stop. */
const lateness = 300;

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** A gateway under load that is about to end. */
interface Scenery {
  readonly database: ChaosFixture['database'];
  readonly gateway: GatewayProcess;
  /** Waits as long as a database is away. */
  absence(): Promise<void>;
  /** @returns when the gateway was killed */
  kill(): Promise<number>;
  /** Stops it; clients go on for a while, as behind a load balancer that learns late. */
  stop(): Promise<undefined>;
}

interface Disturbance {
  readonly name: string;
  /** Happens half-way, and ends the gateway. @returns when it was killed, if it was */
  act(scenery: Scenery): Promise<number | undefined>;
}

const disturbances: readonly Disturbance[] = [
  { name: 'SIGTERM', act: ({ stop }) => stop() },
  { name: 'kill -9', act: ({ kill }) => kill() },
  {
    name: 'database cut off and back, then SIGTERM',
    async act({ database, absence, stop }) {
      database.turn('cut');
      await absence();
      database.turn('open');
      await absence();
      return stop();
    },
  },
  {
    name: 'database silent, then kill -9',
    async act({ database, absence, kill }) {
      database.turn('stall');
      await absence();
      const at = await kill();
      database.turn('open');
      return at;
    },
  },
  {
    name: 'database cut off, then SIGTERM',
    async act({ database, absence, stop }) {
      database.turn('cut');
      await absence();
      await stop();
      database.turn('open');
      return undefined;
    },
  },
];

/** Gateways end in every way under a mixed load, and databases go away: what clients saw has to be on record, once. */
export const records: Experiment = {
  name: 'records',
  description: 'every request has one true record, however gateways end and databases go away',
  async run({ postgres, isShort, print }) {
    await using fixture = await openChaosFixture(postgres, { plays: { 'stays-open': playOpen } });
    const wanted = isShort ? 200 : 10_000;
    const seen: Saw[] = [];
    const kills: number[] = [];
    // The last ones are all of it at once: a database that goes away, and a gateway that ends meanwhile.
    const chosen = isShort ? disturbances.slice(-2) : disturbances;
    for (let round = 0; round < chosen.length || answered(seen).length < wanted; round++) {
      const disturbance = chosen[round % chosen.length] as Disturbance;
      const gateway = await fixture.start();
      const before = seen.length;
      const share = Math.ceil(wanted / chosen.length / 2);
      const over = new AbortController();
      const load = sendLoad(fixture.client(gateway), seen, over.signal);
      await until(() => seen.length - before >= share, 'half of the load');
      const killedAt = await disturbance.act({
        database: fixture.database,
        gateway,
        absence: () => pause(isShort ? 1_000 : 3_000),
        kill: async () => {
          const at = performance.now();
          await gateway.end('SIGKILL');
          return at;
        },
        stop: async () => {
          const ended = gateway.end('SIGTERM');
          await pause(lateness);
          over.abort();
          await ended;
          return undefined;
        },
      });
      over.abort();
      await load;
      if (killedAt !== undefined) kills.push(killedAt);
      print(`  ${disturbance.name}: ${seen.length - before} requests`);
    }
    // What the last one has left is taken in by the next.
    await using _last = await fixture.start();
    const found = await recordsOf(fixture.home.database, seen);
    const all = answered(seen);
    const mistakes = seen.flatMap((saw) => judgeAcrossKills(saw, found.get(saw.serial), kills) ?? []);
    const endings = Map.groupBy(seen, ({ ending }) => ending);
    print(`  ${[...endings].map(([ending, own]) => `${own.length} ${ending}`).join(', ')}`);
    return [noneOf('records missing, duplicated or untrue', all.length, mistakes)];
  },
};

/** Those that have to have a record: they got an answer, or went away from a gateway that was there. */
function answered(seen: readonly Saw[]): readonly Saw[] {
  return seen.filter(({ status, ending }) => status !== undefined || ending === 'left');
}

/** Clients that ask one thing after the other, until they are told to stop or nobody is there any more. */
async function sendLoad(client: Client, seen: Saw[], signal: AbortSignal): Promise<void> {
  const models = ['fine', 'fine', 'status-500', 'fine', 'no-such-model', 'cut', 'stays-open', 'fine'];
  const ask = async (index: number, turn: number): Promise<Saw> => {
    const model = models[(index + turn) % models.length] as string;
    const format = formatAt(Math.floor(index / 2) + turn);
    if (model === 'stays-open') return client.ask({ format, model, isStream: true, leave: 'at content' });
    return client.ask({ format, model, isStream: turn % 2 === 0 });
  };
  const loop = async (index: number) => {
    for (let turn = 0; !signal.aborted; turn++) {
      const saw = await ask(index, turn);
      seen.push(saw);
      if (saw.ending === 'none') return;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => loop(index)));
}

/** What was on the way when a gateway was killed may be on record as interrupted, whatever the client has got of it. */
function judgeAcrossKills(
  saw: Saw,
  own: readonly RequestRecord[] | undefined,
  kills: readonly number[],
): string | undefined {
  const [record] = own ?? [];
  const wasOnTheWay = kills.some((at) => saw.sentAt < at && saw.endedAt > at - lastMoment);
  if (own?.length === 1 && wasOnTheWay && record?.outcome === 'interrupted') return undefined;
  const mistake = judge(saw, own);
  return mistake === undefined ? undefined : `${saw.question.model} as ${saw.question.format}: ${mistake}`;
}
