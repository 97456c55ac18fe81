import { Agent, request } from 'undici';
import { chaosFormats } from '../answers.ts';
import { type Attack, hostileModel, hostileReplies, hostileRequests, modelTo } from '../attacks.ts';
import type { Experiment, Figure } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { WatchedLoop } from '../watched-loop.ts';

/** Ms that the loop may stand still, and what no noise of the machine explains. */
const aim = 50;
const gross = 400;
/** How many clients attack together. */
const crowd = 8;

/** JSON from clients and upstreams that takes long to read: how long the event loop of the gateway stands still. */
export const eventLoop: Experiment = {
  name: 'event-loop',
  description: 'JSON that takes long to read, from clients and from upstreams',
  async run({ postgres, isShort }) {
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
    const measure = async (attacks: readonly Attack[]): Promise<Turn[]> => {
      const turns: Turn[] = [];
      for (const attack of attacks) {
        answer = attack.answer?.() ?? answer;
        await loop.longestTurn();
        await ask(attack);
        turns.push({ name: attack.name, length: await loop.longestTurn() });
      }
      return turns;
    };
    const requests = hostileRequests(isShort);
    const together: Turn[] = [];
    for (let at = 0; at + crowd <= requests.length; at += isShort ? 4 * crowd : 5 * crowd) {
      const attackers = requests.slice(at, at + crowd);
      await loop.longestTurn();
      await Promise.all(attackers.map(ask));
      together.push({ name: attackers.map(({ name }) => name).join('; '), length: await loop.longestTurn() });
    }
    return [
      ...figuresOf('a hostile request', await measure(requests)),
      ...figuresOf('a hostile answer', await measure(hostileReplies(isShort))),
      ...figuresOf(`${crowd} hostile requests at once`, together),
    ];
  },
};

/** The longest turn of the loop while something happened, in ms. */
interface Turn {
  readonly name: string;
  readonly length: number;
}

function figuresOf(what: string, turns: readonly Turn[]): Figure[] {
  const longest = Math.max(...turns.map(({ length }) => length));
  const over = (limit: number) => turns.filter(({ length }) => length > limit);
  const details = over(aim).map(({ name, length }) => `${length} ms: ${name}`);
  return [
    {
      name: `ms for which ${what} kept the event loop, at most`,
      count: turns.length,
      seen: `${longest}, ${details.length} over ${aim}`,
      aim: `at most ${aim}`,
      isMet: longest <= aim,
      isTimed: true,
      details,
    },
    {
      name: `times that ${what} kept the event loop for more than ${gross} ms`,
      count: turns.length,
      seen: String(over(gross).length),
      aim: '0',
      isMet: over(gross).length === 0,
      details: over(gross).map(({ name, length }) => `${length} ms: ${name}`),
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
