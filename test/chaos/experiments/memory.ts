import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { type Experiment, type ExperimentContext, type Figure, inParallel, noneOf } from '../figure.ts';
import { SmallGateway } from '../small-gateway.ts';

/** At each size, without `--soak`. */
const seconds = { short: 6, usual: 30, long: 60 };
const attackers = 12;
const customers = 3;

/** MB of the process. */
const sizes = [512, 1_024];

/** Bodies and answers that do not fit into memory together, valid and hostile, while small requests are served. */
export const memory: Experiment = {
  name: 'memory',
  description: 'large and hostile bodies at 512 MB and 1 GB, and endless small deltas at 512 MB',
  async run(context) {
    const figures: Figure[] = [];
    for (const megabytes of context.isShort ? sizes.slice(0, 1) : sizes)
      figures.push(...(await attackAt(context, megabytes)));
    // In less time they do not fill the heap.
    if (!context.isShort) figures.push(...(await attackAt(context, 512, 'small deltas', smallDeltas)));
    return figures;
  },
};

async function attackAt(
  context: ExperimentContext,
  megabytes: number,
  what = 'large bodies',
  played = attacks,
): Promise<Figure[]> {
  const { postgres, isShort, isLong, minutes } = context;
  await using gateway = await SmallGateway.start({ postgres, megabytes, models });
  const keys = await Promise.all(
    Array.from({ length: customers }, async (_, index) => {
      const period = { days: 1, reason: 'grant', label: 'test' } as const;
      return (await createAccount(gateway.fixture.home.database, 'dp', { name: `Customer ${index}`, period })).key;
    }),
  );
  await using agents = new AsyncDisposableStack();
  const dispatcher = agents.adopt(new Agent({ connections: attackers }), (agent) => agent.destroy());
  const end =
    performance.now() +
    (minutes === undefined ? seconds[isShort ? 'short' : isLong ? 'long' : 'usual'] : minutes * 60) * 1000;
  const kinds = Object.entries(played);
  const statuses: string[] = [];
  await inParallel(attackers, attackers, async (attacker) => {
    for (let turn = attacker; performance.now() < end && gateway.process.process.exitCode === null; turn++) {
      const [name, play] = kinds[turn % kinds.length] as (typeof kinds)[number];
      const status = await play({ url: gateway.url, key: keys[turn % keys.length] as string, dispatcher }).catch(
        (error: unknown) => String((error as { code?: string }).code ?? error),
      );
      statuses.push(`${name}: ${status}`);
    }
  });
  // 529 is the 503 of the Messages format.
  const wrong = statuses.filter((status) => /: 5(?!03|29)/.test(status));
  const served = statuses.filter((status) => status.endsWith(': 200'));
  const title = `${megabytes} MB`;
  return [
    noneOf(`${title}: ${what} with another error than 503 or 529`, statuses.length, wrong),
    {
      name: `${title}: ${what} that were served`,
      count: statuses.length,
      seen: String(served.length),
      aim: 'at least 1',
      isMet: served.length > 0,
    },
    ...(await gateway.figures(`${title}, ${what}`)),
  ];
}

interface Attack {
  readonly url: string;
  readonly key: string;
  readonly dispatcher: Agent;
}

const image = (model: string, bytes: number, text = 'look') =>
  Buffer.from(
    JSON.stringify({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } },
          ],
        },
      ],
    }),
  );
const bodies = {
  image20: image('fine', 20_000_000),
  image31: image('fine', 31_000_000),
  translated20: image('translated', 20_000_000),
  wide20: image('translated', 20_000_000, 'look 😀'),
};
const ask = (model: string, more: object = {}) =>
  Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: `hi ${Math.random()}` }], ...more }));

async function post({ url, key, dispatcher }: Attack, body: Buffer, headers: object = {}): Promise<string> {
  const { statusCode, body: answer } = await request(`${url}/v1/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
  await answer.dump({ limit: Number.MAX_SAFE_INTEGER });
  return String(statusCode);
}

export const attacks: Readonly<Record<string, (attack: Attack) => Promise<string>>> = {
  'images of 20 MB': (attack) => post(attack, bodies.image20),
  'images of 31 MB': (attack) => post(attack, bodies.image31),
  'images, translated': (attack) => post(attack, bodies.translated20),
  'images beside emoji, translated': (attack) => post(attack, bodies.wide20),
  'answers of 50 MB': (attack) => post(attack, ask('large')),
  'answers into the cache': (attack) => post(attack, ask('medium'), { 'x-daypass-cache': '3600' }),
  'events of 15 MB': (attack) => post(attack, ask('event', { stream: true })),
  'a stream that is not read': ({ url, key }) => leave(url, key, ask('long', { stream: true }), 2_000),
  'a body that stalls': ({ url, key }) => leave(url, key, bodies.image31.subarray(0, 5_000_000), 1_000, 31_000_000),
};

/** Alone: what reads long bodies would read what is kept of these streams, too, and V8 would join its pieces. */
const smallDeltas: typeof attacks = {
  'endless small deltas': (attack) => readFor(60_000, attack, ask('deltas', { stream: true, max_tokens: 100 })),
};

/** Reads a stream as a client of another format than its route's, and leaves after a while. */
async function readFor(ms: number, { url, key, dispatcher }: Attack, body: Buffer): Promise<string> {
  const { statusCode, body: answer } = await request(`${url}/v1/messages`, {
    dispatcher,
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(ms),
  });
  await answer.dump({ limit: Number.MAX_SAFE_INTEGER }).catch(() => undefined);
  return String(statusCode);
}

/** Sends a request, reads nothing, and leaves after a while. */
async function leave(url: string, key: string, body: Buffer, after: number, length = body.length): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
  );
  socket.write(body);
  await new Promise((resolve) => setTimeout(resolve, after));
  socket.destroy();
  return 'left';
}

const message = (content: string) =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
const event = (content: string, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`;
const json = (text: string) => {
  const bytes = Buffer.from(text);
  return (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
  };
};
const events = (text: string) => {
  const bytes = Buffer.from(`${text}${event('', 'stop')}data: [DONE]\n\n`);
  return (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytes);
  };
};

export const models = {
  fine: json(message('seen')),
  translated: json(
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [{ type: 'text', text: 'seen' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  ),
  large: json(message('y'.repeat(50_000_000))),
  medium: json(message('y'.repeat(3_000_000))),
  event: events(event('z'.repeat(15_000_000))),
  long: events(event('w'.repeat(1_000)).repeat(20_000)),
  deltas: (response: ServerResponse): void => {
    const chunk = event('hello world').repeat(100);
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' }).on('drain', write);
    write();
  },
};
