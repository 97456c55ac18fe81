import type { GatewayProcess } from '../../support/gateway-home.ts';
import type { Observation } from '../client.ts';
import { playOpen } from '../faults.ts';
import { type Experiment, noneOf } from '../figure.ts';
import { openChaosFixture, type ChaosFixture } from '../fixture.ts';
import { answered, sendLoad } from '../mixed-load.ts';
import { findMistake, recordsOf, type RequestRecord } from '../records.ts';
import { until } from '../until.ts';

/** Ms before a kill in which an answer may have arrived before its end was recorded: it is recorded as interrupted. */
const lastMoment = 1_000;
/** Ms for which clients keep sending after SIGTERM. */
const lingering = 300;

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** A gateway under load. */
interface RunningGateway {
  readonly database: ChaosFixture['database'];
  readonly gateway: GatewayProcess;
  /** Waits as long as the database is disconnected. */
  absence(): Promise<void>;
  /** @returns when the gateway was killed */
  kill(): Promise<number>;
  /** Stops it; clients keep sending for a while, as behind a load balancer that notices late. */
  stop(): Promise<undefined>;
}

interface Disturbance {
  readonly name: string;
  /** Happens halfway and ends the gateway. @returns when it was killed, if it was */
  act(running: RunningGateway): Promise<number | undefined>;
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

/** Gateways end in every way under mixed load, and databases disconnect: each request must have one correct record. */
export const records: Experiment = {
  name: 'records',
  description: 'every request has one correct record, however gateways end and databases disconnect',
  async run({ postgres, isShort, isLong, print }) {
    await using fixture = await openChaosFixture(postgres, { plays: { 'stays-open': playOpen } });
    const wanted = isShort ? 200 : isLong ? 10_000 : 5_000;
    const seen: Observation[] = [];
    const kills: number[] = [];
    // The last two combine it all: a database that disconnects, and a gateway that ends meanwhile.
    const chosen = isShort ? disturbances.slice(-2) : disturbances;
    for (let round = 0; round < chosen.length || answered(seen).length < wanted; round++) {
      const disturbance = chosen[round % chosen.length] as Disturbance;
      const gateway = await fixture.serve();
      const before = seen.length;
      const share = Math.ceil(wanted / chosen.length / 2);
      const over = new AbortController();
      const load = sendLoad(fixture.client(gateway), seen, { signal: over.signal, isShort });
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
          await pause(lingering);
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
    // The next start ships what the last gateway left in its journal.
    await using _last = await fixture.serve();
    const found = await recordsOf(fixture.home.database, seen);
    const all = answered(seen);
    const mistakes = seen.flatMap(
      (observed) => findMistakeAcrossKills(observed, found.get(observed.serial), kills) ?? [],
    );
    const endings = Map.groupBy(seen, ({ ending }) => ending);
    print(`  ${[...endings].map(([ending, own]) => `${own.length} ${ending}`).join(', ')}`);
    return [noneOf('records missing, duplicated or wrong', all.length, mistakes)];
  },
};

/** A request in flight when the gateway was killed may be recorded as interrupted, whatever its client received. */
function findMistakeAcrossKills(
  observed: Observation,
  own: readonly RequestRecord[] | undefined,
  kills: readonly number[],
): string | undefined {
  const [record] = own ?? [];
  const wasInFlight = kills.some((at) => observed.sentAt < at && observed.endedAt > at - lastMoment);
  if (own?.length === 1 && wasInFlight && record?.outcome === 'interrupted') return undefined;
  const mistake = findMistake(observed, own);
  return mistake === undefined ? undefined : `${observed.question.model} as ${observed.question.format}: ${mistake}`;
}
