import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { WorkerStatus } from '#core/gateway/health/worker-status.ts';
import { formatOperatorAddress, type OperatorAddress } from '#core/gateway/operator-listener/address.ts';
import type { ForwardedResponse } from '#core/gateway/operator-listener/server.ts';
import { isDiskResponsive, openListener } from '#core/gateway/operator-listener/socket.ts';
import { runInBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import type { Logger } from '#core/platform/logger.ts';
import { mergeMetrics } from './merge-metrics.ts';
import type { WorkerProcess } from './worker-process.ts';

const { createServer } = process.getBuiltinModule('node:http'); // as in gateway/http/listener.ts

interface Workers {
  ready(): readonly WorkerProcess[];
  renderMetrics(respondingWorkers: readonly number[]): string;
  describe(): readonly WorkerStatus[];
}

interface WorkerResponse {
  readonly worker: number;
  readonly response: ForwardedResponse;
}

/**
 * The operator listener for several workers. Metrics and health cover all workers; one worker responds to all other requests. The machine
 * is ready if any worker is, so that a load balancer does not remove it while one worker restarts.
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

  get url(): string {
    const bound = this.#server.address();
    if ('path' in this.#address || bound === null || typeof bound === 'string')
      return formatOperatorAddress(this.#address);
    return formatOperatorAddress({ host: this.#address.host, port: bound.port });
  }

  /** @throws StartRefused with the address and what to do */
  listen(): Promise<void> {
    return openListener(this.#server, this.#address);
  }

  async close(): Promise<void> {
    if (await isDiskResponsive(this.#address)) this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, body } = await this.#respond(request);
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
  }

  async #respond({ method, url = '/', headers, socket }: IncomingMessage): Promise<ForwardedResponse> {
    if (method !== 'GET' && method !== 'HEAD') return createTextResponse(405, 'Use GET.');
    const ready = this.#workers.ready();
    const path = url.split('?', 1)[0] ?? '';
    // No access control, because the response reveals nothing about the state.
    if (path === '/livez') return createJsonResponse(200, { status: 'ok' });
    const isForAllWorkers = path === '/metrics' || path === '/readyz';
    // Forwards only the headers that access control needs: with all of them, responses would be compressed.
    const { host, origin, authorization, 'sec-fetch-site': site } = headers;
    const forwardedHeaders = { host, origin, authorization, 'sec-fetch-site': site };
    const requests = (isForAllWorkers ? ready : ready.slice(0, 1)).map(async (worker) => {
      const answer = await worker.forwardRequest({ url, headers: forwardedHeaders, localAddress: socket.localAddress });
      return answer === undefined ? [] : { worker: worker.number, response: answer };
    });
    const responses = (await Promise.all(requests)).flat();
    const [first] = responses;
    if (first === undefined)
      return createJsonResponse(503, { status: 'unavailable', workers: this.#workers.describe() });
    const isRefused = first.response.status !== 200 && first.response.status !== 503;
    if (!isForAllWorkers || isRefused) return first.response;
    return path === '/metrics'
      ? this.#mergeMetrics(responses, first.response)
      : this.#mergeHealth(responses, first.response);
  }

  #mergeMetrics(responses: readonly WorkerResponse[], { status, headers }: ForwardedResponse): ForwardedResponse {
    const merged = mergeMetrics(responses.map(({ worker, response: answer }) => ({ worker, text: answer.body })));
    return { status, headers, body: merged + this.#workers.renderMetrics(responses.map(({ worker }) => worker)) };
  }

  #mergeHealth(responses: readonly WorkerResponse[], first: ForwardedResponse): ForwardedResponse {
    const baseResponse = responses.find(({ response: answer }) => answer.status === 200)?.response ?? first;
    const body = parseObject(baseResponse.body);
    if (!Array.isArray(body?.['checks'])) return baseResponse;
    const failing = new Map<unknown, JsonObject>();
    for (const { worker, response: answer } of responses)
      for (const check of (parseObject(answer.body)?.['checks'] ?? []) as readonly JsonObject[])
        if (check['ok'] === false && !failing.has(check['name']))
          failing.set(check['name'], { ...check, reason: `Worker ${worker}: ${String(check['reason'])}` });
    const checks = (body['checks'] as readonly JsonObject[]).map((check) => failing.get(check['name']) ?? check);
    const status = body['status'] === 'ok' && failing.size > 0 ? 'degraded' : body['status'];
    return { ...baseResponse, body: JSON.stringify({ ...body, status, checks, workers: this.#workers.describe() }) };
  }
}

function createJsonResponse(status: number, body: object): ForwardedResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(body),
  };
}

function createTextResponse(status: number, text: string): ForwardedResponse {
  return { status, headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' }, body: `${text}\n` };
}
