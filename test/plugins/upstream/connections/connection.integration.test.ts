import { type AddressInfo, createServer, type Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import {
  answer,
  attemptsOf,
  exchangeFor,
  refusalOf,
  routeTo,
  serve,
  textOf,
  upstreamAt,
  useRelay,
} from '../fixture.ts';

const lines: string[] = [];
const fixture = useRelay({}, (line) => lines.push(line), 'hidden', { quarantineMs: 20 });
beforeEach(() => {
  lines.length = 0;
});

const body = JSON.stringify(answer);
const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
const interim = (status: string) => `HTTP/1.1 ${status}\r\nlink: </x>\r\n\r\n`;

async function ask(url: string, prompt = 'hi') {
  const exchange = exchangeFor([routeTo(upstreamAt(url))], { prompt });
  return { exchange, reply: await fixture.relay(exchange) };
}

const connectionsOf = ({ requests }: FaultyUpstream) => new Set(requests.map(({ connection }) => connection)).size;

describe('interim responses', () => {
  it.each(['100 Continue', '102 Processing', '103 Early Hints', '199 Odd'])(
    'interim responses are skipped: %s',
    async (status) => {
      await using upstream = await createUpstream((_request, response) =>
        response.raw(interim(status) + interim(status) + head + body),
      );
      const { exchange, reply } = await ask(upstream.url);
      expect(await textOf(reply)).toBe(body);
      expect(attemptsOf(exchange)).toEqual(['one/model-there served 200']);
    },
  );

  it('interim responses are skipped wherever the network divides them', async () => {
    const bytes = `\r\n${interim('100 Continue')}${head}`;
    for (let cut = 1; cut < bytes.length; cut += 3) {
      await using upstream = await createUpstream(async (_request, response) => {
        response.raw(bytes.slice(0, cut));
        await new Promise(setImmediate);
        response.raw(bytes.slice(cut) + body);
      });
      expect(await textOf((await ask(upstream.url)).reply)).toBe(body);
    }
  });

  it('interim responses leave the connection usable', async () => {
    fixture.reopen();
    await using upstream = await createUpstream(async (request, response) => {
      response.raw(interim('100 Continue'));
      await serve(request, response);
    });
    await ask(upstream.url);
    await new Promise(setImmediate); // The connection goes back to its pool after the answer.
    await ask(upstream.url);
    expect(connectionsOf(upstream)).toBe(1);
  });

  it('interim responses that ask for an unrequested upgrade fail the route', async () => {
    await using upstream = await createUpstream((_request, response) =>
      response.raw('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );
    expect((await refusalOf(ask(upstream.url))).code).toBe('upstream_failed');
  });
});

/** Sends a text until the other side closes. @returns also how to read the number of bytes sent */
function pour(beginning: string, part: string): [Handler, () => number] {
  const block = part.repeat(Math.ceil(65_536 / part.length));
  let sent = 0;
  const handler: Handler = async (_request, response) => {
    response.raw(beginning);
    const closed = response.closed.then(() => 'closed');
    while ((await Promise.race([closed, new Promise(setImmediate)])) !== 'closed') {
      response.raw(block);
      sent += block.length;
    }
  };
  return [handler, () => sent];
}

describe('an answer without end', () => {
  const chunked = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';

  it.each([
    ['interim responses', '', interim('100 Continue')],
    ['an interim response', 'HTTP/1.1 103 Early Hints\r\n', 'link: </x>\r\n'],
    ['a reason phrase', 'HTTP/1.1 200 ', 'OK '],
    ['an extension of a chunk', `${chunked}1;`, 'name=value;'],
    ['extensions of chunks', chunked, `1;${'x'.repeat(200)}\r\n \r\n`],
  ])('is the fault of the route: %s', async (_name, beginning, part) => {
    const [handler, sent] = pour(beginning, part);
    await using upstream = await createUpstream(handler);
    await using backup = await createUpstream(serve);
    const routes = [routeTo(upstreamAt(upstream.url)), routeTo(upstreamAt(backup.url, { name: 'two' }))];
    const exchange = exchangeFor(routes);
    expect((await fixture.relay(exchange)).status).toBe(200);
    expect(attemptsOf(exchange).map((attempt) => attempt.replace(/ 200$/, ''))).toEqual([
      'one/model-there failed',
      'two/model-there served',
    ]);
    expect(sent()).toBeLessThan(16 * 1024 * 1024);
  });

  it('an answer in chunks of a byte each is not taken for one without end', async () => {
    const text = JSON.stringify({ ...answer, padding: ' '.repeat(100_000) });
    const bytes = [...text].map((byte) => `1\r\n${byte}\r\n`).join('');
    await using upstream = await createUpstream((_request, response) => response.raw(`${chunked}${bytes}0\r\n\r\n`));
    expect(await textOf((await ask(upstream.url)).reply)).toBe(text);
  });
});

/** An answer as the network brings it. */
function answerWith(text: string): string {
  const message = { role: 'assistant', content: text };
  const json = JSON.stringify({ ...answer, choices: [{ index: 0, message, finish_reason: 'stop' }] });
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
}

/** An upstream that answers each prompt with itself and then, after so many ms, with a text that no request asked for. */
async function createTwofoldUpstream(delay: number | 'same read') {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.toString();
      const prompt = /"(prompt \d+)"[^]*\}$/.exec(received)?.[1];
      if (prompt === undefined) return;
      received = '';
      const surplus = answerWith('of another customer');
      if (delay === 'same read') return void socket.write(answerWith(prompt) + surplus);
      socket.write(answerWith(prompt));
      setTimeout(() => socket.write(surplus), delay);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Connections that were opened. */
    get connections() {
      return sockets.size;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('an answer that no request asked for', () => {
  it('an answer without a request reaches none of 3,000 later requests', async () => {
    const delays = ['same read', 0, 0, 1, 1, 2, 3, 5, 8, 12] as const;
    let wrong = 0;
    const askOften = async (url: string, count: number) => {
      for (let index = 0; index < count; index++) {
        const { reply } = await ask(url, `prompt ${index}`);
        if (!(await textOf(reply)).includes(`"prompt ${index}"`)) wrong++;
      }
    };
    for (const delay of delays) {
      await using upstream = await createTwofoldUpstream(delay);
      await Promise.all([1, 2, 3].map(() => askOften(upstream.url, 100)));
    }
    expect(wrong).toBe(0);
  });

  it('an answer that no request asked for gives each later request a connection of its own, and is logged once', async () => {
    fixture.reopen({}, (line) => lines.push(line));
    await using upstream = await createTwofoldUpstream('same read');
    for (let count = 0; count < 4; count++) {
      await ask(upstream.url, `prompt ${count}`);
      await new Promise(setImmediate);
    }
    expect(upstream.connections).toBe(4);
    expect(lines.filter((line) => line.includes('no request asked for'))).toHaveLength(1);
  });
});
