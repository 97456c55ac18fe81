import type { Route } from '#core/config/catalog/catalog.ts';
import { Conversations } from './conversations.ts';
import { fairQueue, QueuedConversations, unfairQueue } from './queued-conversations.ts';
import { limits, route, settledAtMs, type Simulation } from './simulation.ts';

export interface Finding {
  readonly what: string;
  readonly value: number;
  readonly aim?: number; // highest acceptable value; undefined for figures that only describe
}

export interface Scenario {
  readonly name: string;
  readonly story: string; // what happens, in one line
  run(simulation: Simulation): Promise<Finding[]>;
}

const second = 1_000; // ms
const { concurrent = 0 } = limits;
const lostReplies = 2; // of one key, granted from instances' shares because a lost packet delayed a reply by over 240 ms

function redisFigures({ figures }: Simulation, from: number, until: number): Finding[] {
  const perSecond = (name: string) => figures.perSecond(name, from, until);
  const perRequest = (name: string) => figures.total(name, from, until) / figures.total('requests', from, until);
  return [
    ...figures.names
      .filter((name) => name.startsWith('redis ') && !['redis commands', 'redis µs'].includes(name))
      .map((name) => ({ what: `${name.slice(6)} a request`, value: perRequest(name) })),
    { what: 'commands a request', value: perRequest('redis commands'), aim: 4 },
    { what: 'messages to instances a second', value: perSecond('messages') },
    { what: 'KB of messages a second', value: perSecond('message bytes') / 1_000 },
    { what: 'cores of Redis (estimate)', value: perSecond('redis µs') / 1_000_000 },
  ];
}

const steady: Scenario = {
  name: 'steady',
  story: 'ordinary load, a tenth of it from keys far over their limits; open pages',
  async run(simulation) {
    simulation.openPages();
    simulation.send();
    const from = settledAtMs + 8 * second;
    await simulation.clock.runUntil(from + 12 * second);
    return [
      { what: 'requests over the rate limit of a key', value: simulation.overshoot(), aim: lostReplies },
      { what: 'requests in flight of a key', value: simulation.mostRunning(), aim: concurrent + lostReplies },
      ...redisFigures(simulation, from, from + 12 * second),
    ];
  },
};

const minute: Scenario = {
  name: 'minute',
  story: 'at the turn of a minute, as many requests as in two seconds arrive within 20 ms',
  async run(simulation) {
    const { clock, figures, scale } = simulation;
    simulation.send();
    const at = settledAtMs + 5 * second;
    await clock.runUntil(at);
    for (let sent = 0; sent < 2 * scale.rate; sent++) clock.after(Math.random() * 20, () => simulation.call());
    await clock.runUntil(at + 5 * second);
    return [
      { what: 'requests over the rate limit of a key', value: simulation.overshoot(), aim: lostReplies },
      { what: 'requests in flight of a key', value: simulation.mostRunning(), aim: concurrent + lostReplies },
      { what: 'most commands in 100 ms', value: figures.peak('redis commands', at) },
      { what: 'warnings in logs', value: figures.total('log warn', at) },
    ];
  },
};

const restart: Scenario = {
  name: 'restart',
  story: 'Redis ends without its data, is back after 10 s, and ends again for 5 s one second later',
  async run(simulation) {
    const { clock, figures, redis, scale } = simulation;
    simulation.send();
    const down = settledAtMs + 8 * second;
    await clock.runUntil(down);
    const before = figures.peak('redis commands', settledAtMs + 4 * second, down);
    await redis.kill();
    await clock.runUntil(down + 10 * second);
    redis.start();
    await clock.runUntil(down + 11 * second);
    await redis.kill();
    const back = down + 16 * second;
    await clock.runUntil(back);
    redis.start();
    await clock.runUntil(back + 8 * second);
    // The limits before, during and after each outage, with at least one request per instance.
    const promised = 2 * (Math.max(limits.burst, scale.instances) + limits.burst);
    return [
      { what: 'requests over the rate limit of a key', value: simulation.overshoot(), aim: promised },
      {
        what: 'requests in flight of a key',
        value: simulation.mostRunning(),
        aim: 2 * concurrent + Math.max(concurrent, scale.instances),
      },
      { what: 'most connections in 100 ms', value: figures.peak('connections', down), aim: scale.instances },
      {
        what: 'most commands in 100 ms, as a multiple of before',
        value: figures.peak('redis commands', back) / before,
        aim: 4,
      },
      { what: 'warnings in logs, per instance', value: figures.total('log warn', down) / scale.instances, aim: 6 },
    ];
  },
};

const stopped: Scenario = {
  name: 'stopped',
  story: 'Redis accepts commands and answers none for 5 s, then executes all of them',
  async run(simulation) {
    const { clock, figures, redis, scale } = simulation;
    simulation.send();
    const at = settledAtMs + 8 * second;
    await clock.runUntil(at);
    redis.stop();
    const back = at + 5 * second;
    await clock.runUntil(back);
    redis.start();
    await clock.runUntil(back + 7 * second);
    return [
      {
        what: 'requests over the rate limit of a key',
        value: simulation.overshoot(),
        aim: Math.max(limits.burst, scale.instances) + limits.burst,
      },
      {
        what: 's that Redis works off what has piled up',
        value: figures.total('redis µs', back, back + 100) / 1_000_000,
        aim: 1,
      },
    ];
  },
};

const breaker: Scenario = {
  name: 'breaker',
  story: 'the upstream fails for 12 s; its breakers open, probe and close',
  async run(simulation) {
    const { clock, figures, scale } = simulation;
    simulation.send();
    const at = settledAtMs + 8 * second;
    await clock.runUntil(at);
    simulation.breakUpstream();
    const before = figures.total('messages');
    await clock.runUntil(at + 2 * second);
    const messages = figures.total('messages') - before;
    await clock.runUntil(at + 12 * second);
    simulation.mendUpstream();
    const probes = figures.total('probes');
    await clock.runUntil(at + 30 * second);
    const closed = simulation.alive.filter(({ health }) => health.isHealthy(route)).length;
    return [
      {
        what: 'failing calls after the running ones, per instance',
        value: figures.total('failing calls', at + 100) / scale.instances,
        aim: 12,
      },
      { what: 'messages while it opens, per instance', value: messages / scale.instances, aim: 2 * scale.instances },
      { what: 'probes while it fails', value: probes, aim: 4 },
      {
        what: 'claims of a probe in a second, per instance',
        value: (figures.peak('redis set', at + 2 * second) * 10) / scale.instances,
        aim: 10,
      },
      {
        what: 'most calls in 100 ms after it closes, as a multiple of the load',
        value: figures.peak('upstream calls', at + 12 * second) / (scale.rate / 10),
      },
      { what: 'instances whose breaker is not closed', value: scale.instances - closed, aim: 0 },
    ];
  },
};

const cache: Scenario = {
  name: 'cache',
  story:
    'each account sends 8 identical requests at once whenever its cached reply has ended; then a tenth of the instances dies',
  async run(simulation) {
    const { clock, figures, scale } = simulation;
    const accounts = Math.ceil(scale.rate / 100);
    let longest = 0;
    const ask = async (key: string) => {
      const began = clock.now;
      figures.count('requests');
      await simulation.anyInstance().cachedCall(key, 3, route);
      longest = Math.max(longest, clock.now - began);
    };
    const askAll = () => {
      for (let account = 0; account < accounts; account++)
        clock.after(Math.random() * 4 * second, () => {
          for (let request = 0; request < 8; request++)
            ask(`cached-${account}`).catch(() => figures.count('failed calls'));
        });
    };
    const waves = 3;
    const from = clock.now;
    for (let wave = 0; wave < waves; wave++) {
      askAll();
      await clock.runUntil(from + (wave + 1) * 30 * second);
    }
    const calls = figures.total('upstream calls');
    const usualWait = longest;
    longest = 0;
    askAll();
    await clock.runUntil(clock.now + 3 * second);
    for (const instance of simulation.instances.slice(0, scale.instances / 10)) instance.die();
    await clock.runUntil(clock.now + 57 * second);
    return [
      { what: 'upstream calls for each entry that ended', value: calls / (waves * accounts), aim: 1 },
      { what: 'commands a request', value: figures.total('redis get', from) / figures.total('requests', from) },
      { what: 's that the slowest request waited', value: usualWait / second },
      { what: 's that the slowest waited after its leader had died', value: longest / second },
    ];
  },
};

const weights = [3, 1, 1]; // of a model's routes, which have two keys each

const conversations: Scenario = {
  name: 'conversations',
  story:
    'conversations without a session, each turn of which any instance serves, over three routes by weight, with two keys each',
  async run({ clock, scale }) {
    const routes = weights.map((weight, index) => {
      const upstream = { name: `u${index}`, apiKeys: [`${index}a`, `${index}b`] };
      return { id: `u${index}/model`, model: 'model', priority: 0, weight, upstream } as unknown as Route;
    });
    const played = new Conversations(clock, scale.instances, routes);
    const count = Math.max(2_000, 20 * scale.instances);
    const running = Array.from({ length: count }, async (_, index) => {
      await clock.wait(Math.random() * 60 * second);
      await played.run(`account ${index % 100}`, `question ${index}`);
    });
    await clock.runUntil(clock.now + 600 * second);
    await Promise.all(running);
    const sum = weights.reduce((all, weight) => all + weight, 0);
    const shares = weights.flatMap((weight, index) =>
      ['a', 'b'].map((key) => [(played.uses.get(`${index}${key}`) ?? 0) / played.total, weight / sum / 2] as const),
    );
    return [
      {
        what: 'turns with another key than the first of their conversation, of all',
        value: played.moved / played.total,
        aim: 0,
      },
      {
        what: 'largest difference of a key’s share of turns from that by weight',
        value: Math.max(...shares.map(([share, expected]) => Math.abs(share - expected))),
        aim: 0.05,
      },
    ];
  },
};

/** The queue's accounts: light ones with one conversation, and heavy ones with as many as a key may have requests in flight. */
const queued = { light: 40, heavy: 6, conversations: 8, minutes: 60 };

const queue: Scenario = {
  name: 'queue',
  story:
    '46 accounts, six of them with eight conversations each, need twice the slots of an upstream: what is left of vendors’ caches',
  async run({ clock }) {
    const played = [];
    for (const open of [fairQueue, unfairQueue]) {
      const accounts = new QueuedConversations(clock, open());
      const until = clock.now + queued.minutes * 60 * second;
      const running = [
        ...Array.from({ length: queued.light }, (_, index) => accounts.run(`light ${index}`, until)),
        ...Array.from({ length: queued.heavy * queued.conversations }, (_, index) =>
          accounts.run(`heavy ${index % queued.heavy}`, until),
        ),
      ];
      await clock.runUntil(until + 600 * second);
      await Promise.all(running);
      played.push(accounts);
    }
    const [fair, unfair] = played as [QueuedConversations, QueuedConversations];
    return [
      { what: 'turns of the fair queue that hit a cache, of all', value: fair.hits / fair.turns },
      { what: 'the same of an unfair queue', value: unfair.hits / unfair.turns },
      {
        what: 'hits of the unfair queue that the fair one loses, of all',
        value: 1 - fair.hits / unfair.hits,
        aim: 0.05,
      },
    ];
  },
};

export const scenarios: readonly Scenario[] = [steady, minute, restart, stopped, breaker, cache, conversations, queue];
