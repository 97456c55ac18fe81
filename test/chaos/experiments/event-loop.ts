import { Agent, request } from 'undici';
import { chaosFormats } from '../answers.ts';
import { type Attack, hostileModel, hostileReplies, hostileRequests, modelTo } from '../attacks.ts';
import type { Experiment, Figure } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { WatchedLoop } from '../watched-loop.ts';

/** Ms that the loop may stand still, and what no noise of the machine explains. */
const aim = 50;
const gross = 400;
/**
 * How often something is sent that kept the loop for longer than the aim. What is slow because of the request is slow each time;
 * what is slow once was garbage collection, compilation or the machine.
 */
const tries = 3;
/** How many clients attack together. */
const crowd = 8;

/** Seconds after which no further requests, answers and crowds are sent, so that a slow machine measures fewer of them. */
const budgets = {
  usual: { requests: 30, answers: 20, crowds: 10 },
  long: { requests: 150, answers: 110, crowds: 40 },
};
const progressInterval = 10_000; // ms
/** How many of the longest are printed. */
const shown = 5;

/** JSON from clients and upstreams that takes long to read: how long the event loop of the gateway stands still. */
export const eventLoop: Experiment = {
  name: 'event-loop',
  description: `JSON that takes long to read, from clients and from upstreams; at most a minute, ${minutesOf(budgets.long)} with --long`,
  async run({ postgres, isShort, isLong, print }) {
    let answer = { type: '', text: '' };
    await using fixture = await openChaosFixture(postgres, {
      keepsRequests: false,
      plays: { hostile: ({ response }) => response.send(200, { 'content-type': answer.type }, answer.text) },
    });
    await fixture.home.write(yamlFor(fixture.upstream.url));
    const loop = await WatchedLoop.start(fixture.home);
    await using resources = new AsyncDisposableStack();
    const dispatcher = resources.adopt(new Agent(), (agent) => agent.destroy());
    const authorization = `Bearer ${fixture.home.key}`;
    const ask = async (attack: Attack): Promise<void> => {
      const response = await request(`${loop.gateway.url}${attack.path}`, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization, ...attack.headers },
        body: attack.body(),
      });
      await response.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    };
    const measure = async (
      what: keyof typeof budgets.long,
      attacks: readonly (readonly Attack[])[],
    ): Promise<Turn[]> => {
      const turns: Turn[] = [];
      const end = performance.now() + budgets[isLong ? 'long' : 'usual'][what] * 1000;
      const show = () => print(`  ${turns.length} of ${attacks.length} ${what}, at most ${longestOf(turns)} ms`);
      const progress = setInterval(show, progressInterval);
      try {
        for (const together of inMixedOrder(attacks)) {
          if (performance.now() > end) break;
          answer = together[0]?.answer?.() ?? answer;
          const lengths: number[] = [];
          do {
            await loop.longestTurn();
            await Promise.all(together.map(ask));
            lengths.push(await loop.longestTurn());
          } while (lengths.length < tries && Math.min(...lengths) > aim);
          turns.push({ name: together.map(({ name }) => name).join('; '), lengths });
        }
      } finally {
        clearInterval(progress);
      }
      show();
      for (const { name, lengths } of turns.toSorted((a, b) => shortest(b) - shortest(a)).slice(0, shown))
        print(`    ${lengths.join(', ')} ms: ${name}`);
      return turns;
    };
    const requests = hostileRequests(isShort);
    const crowds = inCrowds(requests).filter((_, index) => index % (isShort ? 4 : 5) === 0);
    return [
      ...figuresOf('a hostile request', await measure('requests', alone(requests))),
      ...figuresOf('a hostile answer', await measure('answers', alone(hostileReplies(isShort)))),
      ...figuresOf(`${crowd} hostile requests at once`, await measure('crowds', crowds)),
    ];
  },
};

const alone = (attacks: readonly Attack[]) => attacks.map((attack) => [attack]);

function inCrowds(attacks: readonly Attack[]): Attack[][] {
  return Array.from({ length: Math.floor(attacks.length / crowd) }, (_, index) =>
    attacks.slice(index * crowd, (index + 1) * crowd),
  );
}

/** All of them, so that the first ones are of every format, place and size: the time may not suffice for the others. */
function inMixedOrder<T>(list: readonly T[]): T[] {
  const step = 101; // a prime that no list's length is a multiple of
  return list.map((_, index) => list[(index * step) % list.length] as T);
}

/** Of what was sent again, the shortest counts. */
function longestOf(turns: readonly Turn[]): number {
  return Math.max(0, ...turns.map(shortest));
}

function shortest({ lengths }: Turn): number {
  return Math.min(...lengths);
}

function minutesOf(seconds: Readonly<Record<string, number>>): number {
  return Math.ceil(Object.values(seconds).reduce((sum, one) => sum + one, 0) / 60);
}

/** The longest turn of the loop, in ms, each time that something was sent. */
interface Turn {
  readonly name: string;
  readonly lengths: readonly number[];
}

function figuresOf(what: string, turns: readonly Turn[]): Figure[] {
  const longest = longestOf(turns);
  const describe = ({ name, lengths }: Turn) => `${lengths.join(', ')} ms: ${name}`;
  const again = turns.filter(({ lengths }) => lengths.length > 1);
  const stalls = turns.filter(({ lengths }) => Math.max(...lengths) > gross);
  return [
    {
      name: `ms for which ${what} kept the event loop, at most, the shortest of ${tries} times`,
      count: turns.length,
      seen: `${longest}, ${again.length} over ${aim} the first time`,
      aim: `at most ${aim}`,
      isMet: longest <= aim,
      isTimed: true,
      limit: { ms: aim, of: 'processor' },
      details: turns.filter((turn) => shortest(turn) > aim).map(describe),
    },
    {
      name: `times that ${what} kept the event loop for more than ${gross} ms`,
      count: turns.length,
      seen: String(stalls.length),
      aim: '0',
      isMet: stalls.length === 0,
      details: stalls.map(describe),
    },
  ];
}

/** An upstream for each format, which speaks no other: requests in the others are translated. */
function yamlFor(url: string): string {
  const upstreams = chaosFormats.map((format) => `  ${format}-only: { format: ${format}, base_url: "${url}/v1" }`);
  const models = chaosFormats.flatMap((format) => [
    `  ${modelTo(format)}: { routes: [${format}-only/fine] }`,
    `  ${hostileModel(format)}: { routes: [${format}-only/hostile] }`,
  ]);
  return `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 1000000, period: 1, burst: 1000000, concurrent: 100000 }
  - cache
  - format
  - upstream: { retry_share: 1, breaker: { failures: 1000, failure_ratio: 1, minimum_calls: 100000 } }
  - log
upstreams:
${upstreams.join('\n')}
models:
${models.join('\n')}
aliases: { "a*a*a*a*a*a*a*a*z": ${modelTo('chat')} }
`;
}
