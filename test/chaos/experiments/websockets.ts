import { readFile } from 'node:fs/promises';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { GatewayProcess } from '../../support/gateway-home.ts';
import { startRedis } from '../../support/global-redis.ts';
import { SocketClient, type SocketEvent, textOf } from '../../support/socket-client.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import { finish, playFine, playOpen, type Scene } from '../faults.ts';
import { type Experiment, type Figure, inParallel, noneOf } from '../figure.ts';
import { openChaosFixture } from '../fixture.ts';
import { until } from '../until.ts';

const MiB = 1024 ** 2;
const megabytes = 512; // of the gateway
/** As `npm start` sets them, and what Node takes by itself in a container of that size. */
const small = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '262144',
  NODE_OPTIONS: `--max-old-space-size=${megabytes / 2} --max-semi-space-size=${megabytes / 128}`,
};
/** WebSockets, and those of them that are asked in each part. */
const sizes = { usual: { sockets: 2_000, asked: 200 }, short: { sockets: 40, asked: 20 } };
const openingAtOnce = 50;
/** Ms for one answer. */
const timeout = 60_000;
const sampleEvery = 200; // ms

/** What the first route of a model does. */
type Phase = 'alive' | 'held' | 'dead';

/** Many WebSockets, beneath which everything that the gateway needs is taken away. */
export const websockets: Experiment = {
  name: 'websockets',
  description: 'conversations on many WebSockets while a route, Redis and PostgreSQL die, and the gateway stops',
  async run({ postgres, isShort, print }) {
    const { sockets, asked } = isShort ? sizes.short : sizes.usual;
    await using server = await startRedis();
    const { hostname: host, port } = new URL(server?.url ?? 'redis://127.0.0.1:1');
    await using redis = await createTcpProxy({ host, port: Number(port) });
    const [route, gated] = [new Route(), new Route()];
    await using fixture = await openChaosFixture(postgres, {
      plays: { shifting: route.play, gated: gated.play },
      models: { shifting: 'resume: true' },
      keepsRequests: false,
    });
    const sections = `memory: { max_bytes: ${megabytes * MiB} }\nwebsocket: { max_sockets: 100000 }\n`;
    await fixture.home.write(fixture.yaml + sections, 'drain_timeout: 60');
    const gateway = await fixture.serve({
      ...small,
      ...(server !== undefined && { REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
    });
    using memory = new PeakMemory(gateway);
    const figures: Figure[] = [];
    const conversations: Conversation[] = [];
    const opened = await inParallel(sockets, openingAtOnce, async () => {
      const client = await SocketClient.open(gateway.url, { authorization: `Bearer ${fixture.home.key}` });
      const conversation = new Conversation(client);
      conversations.push(conversation);
      return conversation.ask('shifting');
    });
    figures.push(noneOf('first turns of as many WebSockets that failed', sockets, failuresIn(opened)));
    print(`  ${sockets} WebSockets, at most ${memory.peak} MiB`);
    const few = conversations.slice(0, asked);
    const askAll = (model: string) => inParallel(asked, asked, (index) => (few[index] as Conversation).ask(model));

    route.phase = 'held';
    const half = few.slice(0, asked / 2).map((conversation) => conversation.ask('shifting'));
    await until(() => few.slice(0, asked / 2).every(({ hasBegun }) => hasBegun), 'the first half to be answered');
    route.die();
    const others = few.slice(asked / 2).map((conversation) => conversation.ask('shifting'));
    figures.push(
      noneOf(
        'conversations lost by the death of a route, half of them within an answer',
        asked,
        failuresIn(await Promise.all([...half, ...others])),
      ),
    );
    figures.push(noneOf('conversations that could not be continued after it', asked, failuresIn(await askAll('fine'))));

    if (server !== undefined) {
      redis.turn('cut');
      figures.push(noneOf('turns that failed without Redis', asked, failuresIn(await askAll('fine'))));
      redis.turn('open');
    }
    fixture.database.turn('cut');
    figures.push(noneOf('turns that failed without PostgreSQL', asked, failuresIn(await askAll('fine'))));
    fixture.database.turn('open');

    gated.phase = 'held';
    const running = few.map((conversation) => conversation.ask('gated'));
    await until(() => few.every(({ hasBegun }) => hasBegun), 'all answers to begin');
    const ended = gateway.end('SIGTERM');
    const idle = conversations.slice(asked);
    const closedFirst = await Promise.all(idle.map(({ client }) => codeOf(client)));
    await gated.revive();
    figures.push(
      noneOf('turns cut by SIGTERM', asked, failuresIn(await Promise.all(running))),
      noneOf(
        'WebSockets that did not end with 1012',
        sockets,
        [...closedFirst, ...(await Promise.all(few.map(({ client }) => codeOf(client))))].filter(
          (code) => code !== '1012',
        ),
      ),
    );
    const code = await ended;
    return [
      ...figures,
      { name: 'exit code', count: 1, seen: String(code), aim: '0', isMet: code === 0 },
      {
        name: 'MiB that the process had at most',
        count: 1,
        seen: String(memory.peak),
        aim: `at most ${megabytes}`,
        isMet: memory.peak <= megabytes,
        isTimed: true,
      },
    ];
  },
};

/** The first route of a model. */
class Route {
  phase: Phase = 'alive';
  /** Answers that have begun and not ended. */
  readonly held: Scene[] = [];

  readonly play = async (scene: Scene): Promise<void> => {
    if (this.phase === 'dead') return scene.response.reset();
    if (this.phase === 'alive') return playFine(scene);
    await playOpen(scene);
    this.held.push(scene);
  };

  /** Breaks off what it answers, and refuses everything from now on. */
  die(): void {
    this.phase = 'dead';
    for (const { response } of this.held.splice(0)) response.reset();
  }

  /** Ends what it answers. */
  async revive(): Promise<void> {
    this.phase = 'alive';
    await Promise.all(this.held.splice(0).map(finish));
  }
}

/** A conversation that is nowhere but on its WebSocket. */
class Conversation {
  readonly client: SocketClient;
  #last: string | undefined;

  constructor(client: SocketClient) {
    this.client = client;
  }

  /** True while an answer has content and no end. */
  get hasBegun(): boolean {
    return this.client.events.some(({ type }) => type === 'response.output_text.delta');
  }

  /** @returns what went wrong; undefined for a whole answer that continues the last one */
  async ask(model: string): Promise<string | undefined> {
    const previous = this.#last;
    const turn = { model, input: `more ${previous ?? ''}`, store: false, previous_response_id: previous ?? null };
    const ending: SocketEvent | Error = await withDeadline(this.client.ask(turn), timeout, 'no answer').catch(
      (error: unknown) => error as Error,
    );
    // Of a long test, no events are looked at again.
    this.client.forget();
    if (ending instanceof Error) return ending.message;
    const { type, response, error } = ending;
    if (type !== 'response.completed' || response === undefined) return `${type}: ${JSON.stringify(error ?? response)}`;
    if (response.previous_response_id !== (previous ?? null)) return 'the answer continues another one';
    if (textOf(ending).trim() === '') return 'an empty answer';
    this.#last = response.id;
    return undefined;
  }
}

function failuresIn(results: readonly (string | undefined)[]): string[] {
  return results.filter((result) => result !== undefined);
}

function codeOf({ closed }: SocketClient): Promise<string> {
  return withDeadline(closed, timeout, 'no end').then(String, (error: unknown) => (error as Error).message);
}

class PeakMemory implements Disposable {
  peak = 0; // MiB
  readonly #timer: NodeJS.Timeout;

  constructor({ process: { pid } }: GatewayProcess) {
    this.#timer = setInterval(() => void this.#sample(pid), sampleEvery);
  }

  async #sample(pid: number | undefined): Promise<void> {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    this.peak = Math.max(this.peak, Math.round(kilobytes / 1024));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
