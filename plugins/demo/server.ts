import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dialect } from '#core/catalog/formats.ts';
import { isDeeperThan, isJsonObject, type JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Answer } from './answer.ts';
import { answerChat } from './chat.ts';
import { Delivery } from './delivery.ts';
import { errorBody } from './error-body.ts';
import { faultOf, modelNames } from './fault.ts';
import { createIdentity } from './identity.ts';
import { answerImages } from './images.ts';
import { answerMessages, countMessages } from './messages.ts';
import { BadRequest } from './prompt.ts';
import { answerResponses } from './responses.ts';

export interface DemoUpstream extends AsyncDisposable {
  /** Origin; clients of Anthropic begin there. */
  readonly url: string;
  /** What the paths of the formats are appended to. */
  readonly baseUrl: string;
}

export interface DemoOptions {
  /** 1: as fast as a model. Every wait is multiplied with it; 0 answers at once. */
  readonly pace?: number;
  readonly log?: Pick<Logger, 'error'>;
}

/** Each throws BadRequest when the request cannot be answered. */
const endpoints = new Map<string, (body: JsonObject) => Answer | Promise<Answer>>([
  ['/v1/chat/completions', answerChat],
  ['/v1/responses', answerResponses],
  ['/v1/messages', answerMessages],
  ['/v1/messages/count_tokens', countMessages],
  ['/v1/images/generations', answerImages],
]);

const maxBodyBytes = 64 * 1024 * 1024;
/** Ms; longer than clients keep connections, so that none is closed under a request that is on its way. */
const keepAliveTimeout = 60_000;

/** Starts the demo on a free port of 127.0.0.1. It asks for no key and remembers nothing. */
export async function startDemoUpstream({ pace = 1, log }: DemoOptions = {}): Promise<DemoUpstream> {
  const server = createServer({ keepAliveTimeout }, (request, response) => {
    response.on('error', () => response.destroy());
    serve(request, response, pace).catch((error: unknown) => {
      // A client that left while it was sending is no mistake of ours.
      if (!request.complete) return;
      log?.error('the demo upstream made a mistake', error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, errorBody('openai', 500, 'the demo upstream made a mistake'));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, pace: number): Promise<void> {
  const requestId = `req_${createIdentity().id}`;
  response.setHeader('x-demo', 'true').setHeader('x-request-id', requestId).setHeader('request-id', requestId);
  const path = (request.url ?? '').replace(/\?.*$/s, '');
  const dialect: Dialect = path.startsWith('/v1/messages') ? 'anthropic' : 'openai';
  const delivery = new Delivery(response, pace);
  try {
    const body = await readBody(request);
    if (path === '/v1/models' && request.method === 'GET') return sendJson(response, 200, listModels());
    const answer = endpoints.get(path);
    if (answer === undefined) throw new BadRequest(`the demo upstream has nothing at ${path}`, null, 404);
    if (request.method !== 'POST') throw new BadRequest('send a POST request', null, 405);
    const reply = await answer(parseBody(body));
    await delivery.send(reply, faultOf(reply.model, reply.text), dialect);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    sendJson(response, error.status, errorBody(dialect, error.status, error.message, error.param));
  }
}

/** Reads to the end even what is too large, so that the sender sees the answer. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size > maxBodyBytes) throw new BadRequest('the body is too large', null, 413);
  return Buffer.concat(chunks).toString();
}

function parseBody(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new BadRequest('the body has to be a JSON object');
  if (isDeeperThan(value)) throw new BadRequest('the body is nested too deeply');
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One list for the SDKs of both vendors. */
function listModels(): object {
  const data = modelNames.map((id) => ({
    id,
    type: 'model',
    object: 'model',
    created: 0,
    created_at: new Date(0).toISOString(),
    display_name: `Demo: ${id}`,
    owned_by: 'demo',
  }));
  return { object: 'list', data, has_more: false, first_id: data.at(0)?.id, last_id: data.at(-1)?.id };
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
