import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createListener } from '#core/gateway/http/listener.ts';
import { isDeeperThan, isJsonObject, type JsonObject, parseJson } from '#core/platform/json.ts';
import type { Logger } from '#core/platform/logger.ts';
import { createChatAnswer, createId } from './chat-answer.ts';
import { ChatRequestError, createChatError } from './chat-error.ts';
import { findLastUserText, parseChatRequest } from './chat-request.ts';
import { DemoDelivery } from './delivery.ts';
import { findFault, modelNames } from './fault.ts';
import { type OtherEndpoint, otherEndpoints, parseForm, readTexts } from './other-answers.ts';

export interface DemoUpstream extends AsyncDisposable {
  readonly url: string; // with a secret path that only this process knows
  readonly baseUrl: string; // with the version segment, to which clients append `/chat/completions`
}

interface DemoOptions {
  readonly delayFactor?: number; // multiplies every delay: 1 is as slow as a model, 0 responds at once
  readonly log?: Pick<Logger, 'error'>;
}

const maxBodyBytes = 64 * 1024 * 1024;
const keepAliveTimeoutMs = 60_000; // longer than clients keep idle connections, so that the server never closes one as a request arrives

export async function startDemoUpstream({ delayFactor = 1, log }: DemoOptions = {}): Promise<DemoUpstream> {
  const secret = `/${randomBytes(16).toString('hex')}`;
  const server = createListener();
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => response.destroy());
    if (!tryRemoveSecret(request, secret)) return sendNotFound(response);
    handleRequest(request, response, delayFactor).catch((error: unknown) => {
      // The request is incomplete if the client disconnected while sending.
      if (!request.complete) return;
      log?.error('the demo upstream failed', error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, createChatError(500, 'Internal error of the demo upstream.'));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${secret}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function tryRemoveSecret(request: IncomingMessage, secret: string): boolean {
  const { url = '' } = request;
  request.url = url.slice(secret.length);
  return url.startsWith(`${secret}/`);
}

/** Rejects other processes on this machine without reading their bodies, because the demo has neither limits nor keys. */
function sendNotFound(response: ServerResponse): void {
  response.setHeader('connection', 'close');
  sendJson(response, 404, createChatError(404, 'Only the gateway itself can use the demo upstream.'));
}

async function handleRequest(request: IncomingMessage, response: ServerResponse, delayFactor: number): Promise<void> {
  response.setHeader('x-demo', 'true').setHeader('x-request-id', createId('req_'));
  const path = (request.url ?? '').replace(/\?.*$/s, '');
  const delivery = new DemoDelivery(response, delayFactor);
  try {
    const body = await readBody(request);
    if (path === '/v1/models' && request.method === 'GET') return sendJson(response, 200, listModels());
    const otherEndpoint = otherEndpoints.get(path.slice('/v1'.length));
    if (otherEndpoint !== undefined) return await serveOtherEndpoint(request, body, otherEndpoint, delivery);
    if (path !== '/v1/chat/completions') throw new ChatRequestError(`Path ${path} not found.`, null, 404);
    if (request.method !== 'POST') throw new ChatRequestError('Method not allowed; use POST.', null, 405);
    const chat = parseChatRequest(parseBody(body));
    await delivery.send(createChatAnswer(chat), chat.isStream, findFault(chat.model, findLastUserText(chat)));
  } catch (error) {
    if (!(error instanceof ChatRequestError)) throw error;
    sendJson(response, error.status, createChatError(error.status, error.message, error.param));
  }
}

async function serveOtherEndpoint(
  request: IncomingMessage,
  body: string,
  answer: OtherEndpoint,
  delivery: DemoDelivery,
): Promise<void> {
  const isForm = request.headers['content-type']?.startsWith('multipart/') === true;
  const fields = isForm ? parseForm(body) : parseBody(body);
  const { type, body: content } = await answer(fields);
  const { model, prompt } = fields;
  const fault = findFault(typeof model === 'string' ? model : '', readTexts(prompt).join('\n'));
  await delivery.sendOther(type, content, fault);
}

/** Reads an oversized body to its end too, so that the client receives the response. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
  }
  if (size > maxBodyBytes)
    throw new ChatRequestError(`The body is over the limit of ${maxBodyBytes} bytes.`, null, 413);
  return Buffer.concat(chunks).toString();
}

function parseBody(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new ChatRequestError('The body must be a JSON object.');
  if (isDeeperThan(value)) throw new ChatRequestError('The body is nested too deeply.');
  return value;
}

function listModels(): object {
  return { object: 'list', data: modelNames.map((id) => ({ id, object: 'model', created: 0, owned_by: 'demo' })) };
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value);
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
}
