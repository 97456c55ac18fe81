import { createAccount } from '#core/business/accounts/accounts.ts';
import { jain, p95 } from '../../plugins/upstream/capacity/simulation.ts';
import type { GatewayProcess } from '../../support/gateway-home.ts';
import { startRedis } from '../../support/global-redis.ts';
import { Client, type Observation } from '../client.ts';
import type { Scene } from '../faults.ts';
import { type Experiment, type Figure, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { describeAttempts, describeObservation, findMistake, recordsOf } from '../records.ts';

/** What the vendor takes at once, and ms that it takes for an answer. */
const slots = 20;
const answerTime = 500;
/** Requests that one account sends at once, and accounts beside it that send one a second. */
const burst = { long: 500, usual: 500, short: 100 };
const others = 19;
/** Seconds of the other loads. */
const loads = { long: 20, usual: 10, short: 4 };
/** Ms in which the slots of a killed instance must be in use again. */
const recovery = 10_000;

/** Ms that clients wait: the machine may be slow. */
const patience = 240_000;

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** A vendor that takes so many requests at once, and refuses further ones. */
class Vendor {
  readonly refused: string[] = [];
  inUse = 0;
  /** Called whenever `inUse` has changed. */
  onChange: () => void = () => undefined;
  #busy = 0; // ms of slots
  #changedAt = performance.now();

  /** Ms of slots in use until now. */
  get busy(): number {
    return this.#busy + this.inUse * (performance.now() - this.#changedAt);
  }

  readonly play = async ({ response, answer }: Scene): Promise<void> => {
    if (this.inUse >= slots) {
      this.refused.push(`a request while ${this.inUse} were in use`);
      response.json(429, { error: { message: 'too many requests', type: 'rate_limit_error', code: null } });
      return;
    }
    this.#change(1);
    await Promise.race([pause(answerTime), response.closed]);
    this.#change(-1);
    response.json(200, answer.whole);
  };

  #change(by: number): void {
    this.#busy = this.busy;
    this.#changedAt = performance.now();
    this.inUse += by;
    this.onChange();
  }
}

/** Accounts with a client for each gateway. */
type Accounts = readonly (readonly Client[])[];

/** Two instances share a vendor's slots between accounts, whatever one of them sends and although one of the two is killed. */
export const fairShares: Experiment = {
  name: 'fair-shares',
  description: 'two instances share scarce slots between accounts; one account sends far more, an instance is killed',
  async run({ postgres, isShort, isLong, print }) {
    await using server = await startRedis();
    if (server === undefined) {
      print('  there is no redis-server on this machine');
      return [];
    }
    const length = isShort ? 'short' : isLong ? 'long' : 'usual';
    const vendor = new Vendor();
    await using fixture = await openChaosFixture(postgres, {
      plays: { limited: vendor.play },
      stage: '{ queue: { wait: 200, per_account: 1000 } }',
      keepsRequests: false,
    });
    await fixture.home.write(
      fixture.yaml
        .replace(
          'upstreams:\n',
          `upstreams:\n  scarce: { format: chat, base_url: "${fixture.upstream.url}/v1", capacity: { concurrent: ${slots} } }\n`,
        )
        .replace('models:\n', 'models:\n  scarce: { routes: [scarce/limited] }\n'),
    );
    const environment = { REDIS_URL: server.url };
    const gateways = await Promise.all([fixture.serve(environment), fixture.serve(environment)]);
    await using resources = new AsyncDisposableStack();
    const accounts = await openAccounts(fixture, gateways, resources);
    await Promise.all(accounts.flatMap((clients) => clients.map((client) => ask(client))));

    const seconds = loads[length];
    const calm = await sendSteadily(accounts.slice(1), (elapsed) => elapsed < seconds * 1000);
    // Before the burst, whose use counts for a while.
    const served = await countServed(accounts, 2 * seconds * 1000);
    const index = jain(served);
    print(`  served of each account: ${Math.min(...served)} to ${Math.max(...served)}`);
    const crowded = await sendBurst(accounts, vendor, burst[length]);
    print(
      `  light accounts: p95 ${p95(timesOf(calm)).toFixed(0)} ms alone, ${p95(timesOf(crowded.light)).toFixed(0)} ms`,
    );
    const killed = await killOne(accounts, gateways[1] as GatewayProcess, vendor);
    const seen = [...calm, ...crowded.light, ...crowded.heavy, ...killed.seen];
    const records = await recordsOf(fixture.home.database, seen);
    const mistakes = seen.flatMap((observed) => {
      const own = records.get(observed.serial);
      const attempts = own?.[0]?.attempts?.length;
      return findMistake(observed, own) ?? (attempts === 1 ? [] : describeAttempts(own?.[0] as never));
    });
    return [
      lightAccounts(calm, crowded.light),
      {
        name: `slots in use while requests wait, of ${slots}`,
        count: crowded.heavy.length,
        seen: `${(crowded.share * 100).toFixed(1)} %`,
        aim: 'at least 97 %',
        isMet: crowded.share >= 0.97,
        isTimed: true,
        limit: { ms: answerTime * 0.03, of: 'elapsed' },
      },
      {
        name: 'Jain’s index of served time, equal weights and demand',
        count: accounts.length,
        seen: index.toFixed(4),
        aim: 'at least 0.98',
        isMet: index >= 0.98,
      },
      noneOf('requests beyond what the vendor takes', seen.length, vendor.refused),
      noneOf(
        'requests lost: neither of the killed instance nor served',
        seen.length,
        seen.filter(({ ending }) => ending !== 'complete').map(describeObservation),
      ),
      noneOf('records missing, doubled or with another attempt', seen.length, mistakes),
      {
        name: 'all slots in use again after an instance was killed',
        count: 1,
        seen: `after ${killed.recovered.toFixed(0)} ms`,
        aim: `within ${recovery} ms`,
        isMet: killed.recovered <= recovery,
        isTimed: true,
        limit: { ms: recovery, of: 'elapsed' },
      },
    ];
  },
};

async function openAccounts(
  fixture: ChaosFixture,
  gateways: readonly GatewayProcess[],
  resources: AsyncDisposableStack,
): Promise<Accounts> {
  const accounts: Client[][] = [];
  for (let number = 0; number <= others; number++) {
    const { key } = await createAccount(fixture.home.database, 'dp', {
      name: `Account ${number}`,
      period: { days: 1, reason: 'grant' },
    });
    accounts.push(gateways.map(({ url }) => resources.use(new Client(url, key, patience))));
  }
  return accounts;
}

function ask(client: Client | undefined): Promise<Observation> {
  return (client as Client).ask({ format: 'chat', isStream: false, model: 'scarce' });
}

/** One request of each account a second, spread over the second, by turns to each instance. */
async function sendSteadily(accounts: Accounts, goesOn: (elapsed: number) => boolean): Promise<Observation[]> {
  const began = performance.now();
  const sent: Promise<Observation>[] = [];
  const steady = accounts.map(async (clients, index) => {
    for (let second = 0; ; second++) {
      const at = began + second * 1000 + (index * 1000) / accounts.length;
      await pause(Math.max(0, at - performance.now()));
      if (!goesOn(performance.now() - began)) return;
      sent.push(ask(clients[second % clients.length]));
    }
  });
  await Promise.all(steady);
  return Promise.all(sent);
}

/** The first account sends a burst among the others; what these saw meanwhile, and how much of the vendor was in use. */
async function sendBurst([heavy = [], ...light]: Accounts, vendor: Vendor, count: number) {
  let isOver = false;
  let sentAt = Infinity;
  const noneWaits = Promise.withResolvers<void>();
  let left = count;
  const steady = sendSteadily(light, () => !isOver);
  await pause(2_000);
  sentAt = performance.now();
  // Once all slots are taken.
  await pause(answerTime / 5);
  const sent = Array.from({ length: count }, (_, index) =>
    ask(heavy[index % heavy.length]).finally(() => --left === slots && noneWaits.resolve()),
  );
  await pause(answerTime);
  const from = { at: performance.now(), busy: vendor.busy };
  // The last ones run, so that none waits any more.
  await noneWaits.promise;
  const share = (vendor.busy - from.busy) / ((performance.now() - from.at) * slots);
  const until = performance.now();
  const all = await Promise.all(sent);
  isOver = true;
  const seen = await steady;
  return { heavy: all, share, light: seen.filter((one) => one.sentAt >= sentAt && one.sentAt <= until) };
}

function lightAccounts(calm: readonly Observation[], crowded: readonly Observation[]): Figure {
  const [alone, beside] = [p95(timesOf(calm)), p95(timesOf(crowded))];
  return {
    name: `p95 of ${others} light accounts beside a heavy one, against without it`,
    count: crowded.length,
    seen: `${(beside / alone).toFixed(2)} times`,
    aim: 'at most 1.5 times',
    isMet: crowded.length > 0 && beside <= 1.5 * alone,
    isTimed: true,
    limit: { ms: alone / 2, of: 'elapsed' },
  };
}

function timesOf(seen: readonly Observation[]): number[] {
  return seen.map(({ sentAt, endedAt }) => endedAt - sentAt);
}

/** Answers by account, each with four clients that always have a request under way. */
async function countServed(accounts: Accounts, milliseconds: number): Promise<number[]> {
  const end = performance.now() + milliseconds;
  const served = accounts.map(() => 0);
  await Promise.all(
    accounts.flatMap((clients, account) =>
      Array.from({ length: 4 }, async (_, index) => {
        while (performance.now() < end) {
          const { ending, endedAt } = await ask(clients[index % clients.length]);
          if (ending === 'complete' && endedAt < end) served[account] = (served[account] ?? 0) + 1;
        }
      }),
    ),
  );
  return served;
}

/** Kills the second instance while both have slots and requests that wait. */
async function killOne(accounts: Accounts, victim: GatewayProcess, vendor: Vendor) {
  const over = new AbortController();
  const seen: Observation[] = [];
  const load = accounts.flatMap((clients) =>
    clients.flatMap((client, instance) =>
      Array.from({ length: 3 }, async () => {
        while (!over.signal.aborted) {
          const observed = await ask(client);
          // The clients of the killed instance lose their connections.
          if (instance === 0) seen.push(observed);
          else if (observed.ending !== 'complete') return;
        }
      }),
    ),
  );
  await pause(3_000);
  await victim.end('SIGKILL');
  const killedAt = performance.now();
  const full = Promise.withResolvers<number>();
  await pause(10);
  vendor.onChange = () => {
    if (vendor.inUse === slots) full.resolve(performance.now() - killedAt);
  };
  const recovered = await Promise.race([full.promise, pause(recovery * 2).then(() => Infinity)]);
  await pause(1_000);
  over.abort();
  await Promise.all(load);
  return { seen, recovered };
}
