/**
 * `npm run bench:sockets`: compares a turn on a WebSocket with the POST that sends the same whole conversation of 100 KB, alternating in
 * one run: CPU time of the gateway, time to the first event (also on a slow network), and the memory of idle sockets and kept
 * conversations.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { askFigures, type Child, startChild, stopChild } from './child.ts';
import { describeRatios, median } from './statistics.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '24' },
    turns: { type: 'string', default: '80' },
    only: { type: 'string', default: 'turns,slow,idle,kept' },
    idle: { type: 'string', default: '1000' },
  },
});
const rounds = Number(flags.rounds);
const turns = Number(flags.turns);
const idleSockets = Number(flags.idle);
const concurrency = 8;
const warmUpRounds = 16; // V8 keeps compiling for that long, as it has done in any gateway that is in use
const items = 40; // as many as a conversation of 20 turns has
const itemBytes = 2_500;
const watchedMs = 30_000; // longer than the interval between pings
const slow = { delayMs: 10, bytesPerSecond: 1_250_000 };

const history = Array.from({ length: items }, (_, index) => ({
  type: 'message',
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `${index} ${'words of a conversation '.repeat(itemBytes / 24)}`,
}));
const next = { type: 'message', role: 'user', content: 'Answer briefly.' };
const options = { store: false };
const agent = new Agent({ connections: concurrency });

/** Each turn forks the conversation, so that its history does not grow. */
class Conversation {
  readonly #ws: WebSocket;
  readonly #id: string;
  readonly #model: string;

  private constructor(ws: WebSocket, id: string, model: string) {
    this.#ws = ws;
    this.#id = id;
    this.#model = model;
  }

  static async open(port: number, key: string, model: string): Promise<Conversation> {
    const ws = await openSocket(port, key);
    const prepared = { model, generate: false, input: history, stream_id: 'kept', ...options };
    const id = await ask(ws, prepared, 'response.completed');
    return new Conversation(ws, id.response?.id ?? '', model);
  }

  async takeTurn(): Promise<number> {
    const began = performance.now();
    let first = 0;
    const asked = { model: this.#model, input: [next], previous_response_id: this.#id, stream_id: 'fork', ...options };
    await ask(this.#ws, asked, 'response.completed', () => {
      first ||= performance.now() - began;
    });
    return first;
  }

  close(): void {
    this.#ws.terminate();
  }
}

const upstream = await startChild('upstream.ts', []);
const gateway = await startChild('gateway.ts', [`http://127.0.0.1:${upstream.port}`]);
try {
  if (flags.only.includes('turns'))
    for (const model of ['bench-responses', 'bench-messages']) await compareTurns(model);
  if (flags.only.includes('slow')) await compareSlowly();
  if (flags.only.includes('idle')) await measureIdle();
  if (flags.only.includes('kept')) await measureKept();
} finally {
  await stopChild(gateway.process);
  await stopChild(upstream.process);
  await agent.close();
}

interface BenchEvent {
  readonly type: string;
  readonly response?: { readonly id: string };
}

async function openSocket(port: number, key: string): Promise<WebSocket> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  return ws;
}

function ask(ws: WebSocket, members: object, ending: string, onEvent = () => {}): Promise<BenchEvent> {
  ws.send(JSON.stringify({ type: 'response.create', ...members }));
  return new Promise((resolve, reject) => {
    const listen = (data: Buffer) => {
      onEvent();
      const text = data.toString();
      if (text.includes('"type":"error"')) reject(new Error(text));
      if (!text.includes(`"type":"${ending}"`)) return;
      ws.off('message', listen);
      resolve(JSON.parse(text) as BenchEvent);
    };
    ws.on('message', listen);
  });
}

async function postTurn(port: number, key: string, model: string): Promise<number> {
  const began = performance.now();
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/v1/responses`, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, input: [...history, next], stream: true, ...options }),
  });
  if (statusCode !== 200) throw new Error(`status ${statusCode}: ${await body.text()}`);
  let first = 0;
  for await (const _chunk of body) first ||= performance.now() - began;
  return first;
}

async function compareTurns(model: string): Promise<void> {
  const { port, key } = gateway;
  const conversations = await Promise.all(
    Array.from({ length: concurrency }, () => Conversation.open(port, key, model)),
  );
  const bySocket = (index: number) => (conversations[index] as Conversation).takeTurn();
  const byPost = () => postTurn(port, key, model);
  const cpu = { socket: [] as number[], post: [] as number[] };
  // Many short rounds, because the machine's other load changes from one to the next.
  for (let round = -warmUpRounds; round < rounds; round++) {
    const socket = await measureCpuUsPerTurn(gateway, bySocket);
    const posted = await measureCpuUsPerTurn(gateway, byPost);
    if (round < 0) continue;
    cpu.socket.push(socket);
    cpu.post.push(posted);
  }
  const latency = { socket: [] as number[], post: [] as number[] };
  for (let index = 0; index < turns; index++) {
    latency.socket.push(await bySocket(0));
    latency.post.push(await byPost());
  }
  for (const conversation of conversations) conversation.close();
  const ratios = cpu.socket.map((socket, round) => socket / (cpu.post[round] ?? Number.NaN));
  report(`${model}: µs of processor time a turn`, median(cpu.socket), median(cpu.post), describeRatios(ratios));
  report(`${model}: ms to the first event, p50`, median(latency.socket), median(latency.post));
}

async function measureCpuUsPerTurn(child: Child, turn: (worker: number) => Promise<number>): Promise<number> {
  const before = await askFigures(child);
  let left = turns;
  const work = async (_: unknown, worker: number) => {
    while (left-- > 0) await turn(worker);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return ((await askFigures(child)).cpu - before.cpu) / turns;
}

async function compareSlowly(): Promise<void> {
  const server = createServer((near) => {
    const far = connect(gateway.port, '127.0.0.1');
    forwardSlowly(near, far);
    forwardSlowly(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const conversation = await Conversation.open(port, gateway.key, 'bench-responses');
  const latency = { socket: [] as number[], post: [] as number[] };
  for (let index = 0; index < 20; index++) {
    latency.socket.push(await conversation.takeTurn());
    latency.post.push(await postTurn(port, gateway.key, 'bench-responses'));
  }
  conversation.close();
  report('20 ms and 10 Mbit/s: ms to the first event, p50', median(latency.socket), median(latency.post));
  server.close();
}

function forwardSlowly(from: Socket, to: Socket): void {
  let freeAt = 0;
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
  from.on('data', (chunk) => {
    const now = performance.now();
    freeAt = Math.max(freeAt, now) + (chunk.length / slow.bytesPerSecond) * 1_000;
    setTimeout(() => to.write(chunk), freeAt - now + slow.delayMs);
  });
}

async function measureIdle(): Promise<void> {
  const before = await readSettledBytes();
  const began = performance.now();
  const sockets = await openMany(idleSockets);
  const seconds = (performance.now() - began) / 1_000;
  const grown = (await readSettledBytes()) - before;
  let pings = 0;
  for (const ws of sockets) ws.on('ping', () => pings++);
  await new Promise((resolve) => setTimeout(resolve, watchedMs));
  const open = sockets.filter((ws) => ws.readyState === WebSocket.OPEN).length;
  console.log(
    `${open} of ${idleSockets} idle sockets: ${megabytes(grown)} MB, opened in ${seconds.toFixed(1)} s, ${pings} pings in ${watchedMs / 1_000} s`,
  );
  await closeAll(sockets);
}

async function measureKept(): Promise<void> {
  const sockets = await openMany(1_000);
  const before = await readSettledBytes();
  const large = { model: 'bench-responses', generate: false, input: history, ...options };
  for (let index = 0; index < sockets.length; index += 20)
    await Promise.all(sockets.slice(index, index + 20).map((ws) => ask(ws, large, 'response.completed')));
  console.log(`1,000 kept conversations of 100 KB: ${megabytes((await readSettledBytes()) - before)} MB`);
  await closeAll(sockets);
}

async function closeAll(sockets: readonly WebSocket[]): Promise<void> {
  const closed = Promise.all(sockets.map((ws) => new Promise((resolve) => ws.once('close', resolve))));
  for (const ws of sockets) ws.terminate();
  await closed;
}

async function openMany(count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count)
    sockets.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, () => openSocket(gateway.port, gateway.visitors?.[0]?.key ?? '')),
      )),
    );
  return sockets;
}

async function readSettledBytes(): Promise<number> {
  let memory = 0;
  for (let look = 0; look < 4; look++) {
    gateway.process.send('collect');
    await new Promise((resolve) => setTimeout(resolve, 500));
    ({ memory } = await askFigures(gateway));
  }
  return memory;
}

function report(what: string, socket: number, posted: number, ratio = (socket / posted).toFixed(2)): void {
  console.log(`${what}: ${socket.toFixed(2)} by WebSocket, ${posted.toFixed(2)} by POST: ${ratio}`);
}

function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}
