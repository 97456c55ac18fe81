import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { Gateway } from '#core/process/app.ts';
import { silentLog } from '../../support/database.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../support/faulty-upstream.ts';
import { createGatewayHome, type GatewayHome, yamlFor } from '../../support/gateway.ts';
import { RawClient } from '../../support/raw-client.ts';

export const maxBodyBytes = 100_000;
const listen = `port: 0, notice_period: 0, header_timeout: 1, drain_timeout: 1, max_body_bytes: ${maxBodyBytes}`;

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'model-there',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

export const chunk = (content: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'model-there',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
export const lastChunk = { ...chunk(''), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

export const chatBody = { model: 'test', messages: [{ role: 'user', content: 'hi' }] };
export const chat = JSON.stringify(chatBody);
export const streamedChat = JSON.stringify({ ...chatBody, stream: true });

interface Row {
  readonly outcome: string;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly remote_address: string;
  readonly path: string;
  readonly bytes_out: string | null;
  readonly attempts: readonly { readonly route: string; readonly outcome: string }[] | null;
}

interface Asked {
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

/** A gateway between faulty clients and an upstream that runs `answer`; one for all tests of a file. */
export class ClientFaultFixture {
  /** What the upstream does with a request: a whole answer by default. */
  answer: Handler = answerWhole;
  /** The user agent of the test's requests, which identifies their records. */
  agent = '';
  upstream!: FaultyUpstream;
  #home!: GatewayHome;
  #gateway!: Gateway;
  #tests = 0;

  /**
   * Opens a fixture before the tests of the calling file and closes it after them.
   *
   * @param further settings of `listen`, such as `body_timeout: 1`
   */
  static use(settings = ''): ClientFaultFixture {
    const fixture = new ClientFaultFixture();
    beforeAll(() => fixture.#open(settings));
    afterAll(() => fixture.#close());
    beforeEach(() => {
      fixture.answer = answerWhole;
      fixture.agent = `client-faults/${++fixture.#tests}`;
    });
    return fixture;
  }

  async #open(settings: string): Promise<void> {
    this.upstream = await createUpstream((request, response) => this.answer(request, response));
    this.#home = await createGatewayHome('');
    const { file, databaseUrl } = this.#home;
    // No upstream timeout fires within a test: only a client that left closes a connection.
    const yaml = yamlFor(`${this.upstream.url}/v1`)
      .replaceAll(/(first_byte|idle|connect)_timeout: \d+/g, '$1_timeout: 60')
      .replace('routes: [one/model-there]', 'routes: [one/model-there, one/model-elsewhere]');
    await writeFile(file, `listen: { ${listen}${settings && `, ${settings}`} }\n${yaml}`);
    this.#gateway = await Gateway.start({ file, environment: { DATABASE_URL: databaseUrl }, log: silentLog });
  }

  async #close(): Promise<void> {
    await this.#gateway.stop();
    await this.#home[Symbol.asyncDispose]();
    await this.upstream[Symbol.asyncDispose]();
  }

  get url(): string {
    return this.#gateway.url;
  }

  /** The value of a series of the metrics; 0 before it exists. */
  async metric(series: string): Promise<number> {
    const text = await (await fetch(`${this.#gateway.operatorUrl}/metrics`)).text();
    const line = text.split('\n').find((other) => other.startsWith(`daypass_${series} `));
    return Number(line?.split(' ').at(-1) ?? 0);
  }

  get key(): string {
    return this.#home.key;
  }

  connect(): Promise<RawClient> {
    return RawClient.open(this.url);
  }

  /** Head of a POST with the key of this fixture's account. */
  post(headers: string, path = '/v1/chat/completions'): string {
    return `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${this.key}\r\nUser-Agent: ${this.agent}\r\n${headers}\r\n`;
  }

  /** Sends bytes on a new connection and waits until the gateway closes it. */
  async exchangeRaw(bytes: string | Buffer): Promise<{ status: number; text: string }> {
    using client = await this.connect();
    client.send(bytes);
    const text = await client.end();
    return { status: client.status, text };
  }

  async ask(body: string | Buffer, { path = '/v1/chat/completions', headers = {} }: Asked = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.key}`,
        'content-type': 'application/json',
        'user-agent': this.agent,
        ...headers,
      },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
  }

  /** The records of this test's requests; waits until there are this many. */
  async records(count = 1): Promise<Row[]> {
    return vi.waitFor(
      async () => {
        const rows = await this.#home.database.query<Row>('SELECT * FROM request_log WHERE user_agent = ?', [
          this.agent,
        ]);
        expect(rows).toHaveLength(count);
        return rows;
      },
      { timeout: 15_000, interval: 50 },
    );
  }
}

function answerWhole(...[, response]: Parameters<Handler>): void {
  response.json(200, completion);
}
