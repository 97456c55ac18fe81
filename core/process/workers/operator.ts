import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { describeAddress, type OperatorAddress } from '#core/gateway/operator-listener/address.ts';
import type { ForwardedResponse } from '#core/gateway/operator-listener/server.ts';
import { isDiskResponsive, openListener } from '#core/gateway/operator-listener/socket.ts';
import { runInBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import type { WorkerStatus } from '#core/gateway/health/worker-status.ts';
import type { Logger } from '#core/platform/logger.ts';
import { mergeMetrics } from './merge-metrics.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Not imported, because an import reads every export of the module, and one of them loads all of Node's own undici. */
const { createServer } = process.getBuiltinModule('node:http');

interface Workers {
  ready(): readonly WorkerProcess[];
  metrics(answered: readonly number[]): string;
  describe(): readonly WorkerStatus[];
}

interface Answered {
  readonly worker: number;
  readonly answer: ForwardedResponse;
}

/**
 * The operator's listener for several workers. Metrics and health cover all workers; one worker answers all other requests. The
 * machine is ready while any worker is: a load balancer that removed it for one restarting worker would lose the others.
 */
export class WorkersOperator {
  readonly #server: Server;
  readonly #address: OperatorAddress;
  readonly #workers: Workers;

  constructor(address: OperatorAddress, workers: Workers, log: Logger) {
    this.#address = address;
    this.#workers = workers;
    this.#server = createServer((request, response) =>
      runInBackground(log, 'answering the operator', () => this.#serve(request, response)),
    );
    this.#server.maxConnections = bounds.operatorConnections;
  }

  /** URL as of `OperatorServer`. */
  get url(): string {
    const bound = this.#server.address();
    if ('path' in this.#address || bound === null || typeof bound === 'string') return describeAddress(this.#address);
    return describeAddress({ host: this.#address.host, port: bound.port });
  }

  /** @throws StartRefused with the address and the remedy */
  listen(): Promise<void> {
    return openListener(this.#server, this.#address);
  }

  async close(): Promise<void> {
    if (await isDiskResponsive(this.#address)) this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, body } = await this.#answer(request);
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
  }

  async #answer({ method, url = '/', headers, socket }: IncomingMessage): Promise<ForwardedResponse> {
    if (method !== 'GET' && method !== 'HEAD') return plain(405, 'Use GET.');
    const ready = this.#workers.ready();
    const path = url.split('?', 1)[0] ?? '';
    // The response reveals no state, so it needs no access control.
    if (path === '/livez') return json(200, { status: 'ok' });
    const ofAll = path === '/metrics' || path === '/readyz';
    // Forwards only the headers that access depends on; with all headers, responses would be compressed.
    const { host, origin, authorization, 'sec-fetch-site': site } = headers;
    const asked = { host, origin, authorization, 'sec-fetch-site': site };
    const answers = (ofAll ? ready : ready.slice(0, 1)).map(async (worker) => {
      const answer = await worker.ask({ url, headers: asked, localAddress: socket.localAddress });
      return answer === undefined ? [] : { worker: worker.number, answer };
    });
    const answered = (await Promise.all(answers)).flat();
    const [first] = answered;
    if (first === undefined) return json(503, { status: 'unavailable', workers: this.#workers.describe() });
    const isRefused = first.answer.status !== 200 && first.answer.status !== 503;
    if (!ofAll || isRefused) return first.answer;
    return path === '/metrics' ? this.#metrics(answered, first.answer) : this.#health(answered, first.answer);
  }

  #metrics(answered: readonly Answered[], { status, headers }: ForwardedResponse): ForwardedResponse {
    const merged = mergeMetrics(answered.map(({ worker, answer }) => ({ worker, text: answer.body })));
    return { status, headers, body: merged + this.#workers.metrics(answered.map(({ worker }) => worker)) };
  }

  /** One ready worker's health, with the failures of all workers. */
  #health(answered: readonly Answered[], first: ForwardedResponse): ForwardedResponse {
    const own = answered.find(({ answer }) => answer.status === 200)?.answer ?? first;
    const body = parseObject(own.body);
    if (!Array.isArray(body?.['checks'])) return own;
    const failing = new Map<unknown, JsonObject>();
    for (const { worker, answer } of answered)
      for (const check of (parseObject(answer.body)?.['checks'] ?? []) as readonly JsonObject[])
        if (check['ok'] === false && !failing.has(check['name']))
          failing.set(check['name'], { ...check, reason: `Worker ${worker}: ${String(check['reason'])}` });
    const checks = (body['checks'] as readonly JsonObject[]).map((check) => failing.get(check['name']) ?? check);
    const status = body['status'] === 'ok' && failing.size > 0 ? 'degraded' : body['status'];
    return { ...own, body: JSON.stringify({ ...body, status, checks, workers: this.#workers.describe() }) };
  }
}

function json(status: number, body: object): ForwardedResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}

function plain(status: number, text: string): ForwardedResponse {
  return { status, headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' }, body: `${text}\n` };
}
