import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { type ActionError, getActions, isActionError, runAction } from '#core/business/operator-actions/actions.ts';
import { describeMistakes } from '#core/business/operator-actions/input-mistakes.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { takeRequest } from '#core/platform/shared/shared.ts';
import { toSnakeCase, toOperatorJson } from '#core/web/resources/operator-json.ts';
import { type ApiResponse, claimKey, finishKey } from './idempotency.ts';
import { createOpenApiDocument, buildActionPath, rootPath } from './openapi.ts';
import { renameMembers } from './other-names.ts';
import { operatorApiSection } from './section.ts';
import { type TokenRecord, useToken } from './tokens.ts';

const maxBodyBytes = 16_384;

type Caller = Pick<TokenRecord, 'id' | 'name' | 'scope'>;

interface Call {
  readonly method: string;
  readonly segments: readonly string[]; // path segments below the root
  readonly query: URLSearchParams;
  readonly body: string;
  readonly key: string | undefined;
}

type Readings = ReadonlyMap<string, OperatorReading>;

export function createOperatorApiRoutes(host: () => Host, readings: Readings): ServerRoute[] {
  const path = `${rootPath}/{path*}`;
  const options = { auth: false, state: { parse: false } } as const;
  const payload = {
    parse: false,
    output: 'data',
    maxBytes: maxBodyBytes,
    override: 'application/octet-stream',
  } as const;
  const handler: ServerRoute['handler'] = (request, h) => respond(host(), readings, request, h);
  return [
    { method: 'GET', path, options, handler },
    { method: 'POST', path, options: { ...options, payload }, handler },
  ];
}

async function respond(host: Host, readings: Readings, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
  const apiResponse = await handleRequest(host, readings, request).catch((error: unknown): ApiResponse => {
    host.log.error(`the operator API failed, request ${request.info.id}`, error);
    return createFailure(500, 'internal', `Internal error. Quote the request id ${request.info.id}.`);
  });
  const response = h.response(JSON.stringify(apiResponse.body)).code(apiResponse.status).type('application/json');
  if (apiResponse.status === 401) response.header('www-authenticate', 'Bearer');
  return response.header('cache-control', 'no-store');
}

async function handleRequest(host: Host, readings: Readings, request: Request): Promise<ApiResponse> {
  // If a header is repeated, Node keeps the first or joins them.
  const { authorization = '', 'idempotency-key': key } = request.raw.req.headers;
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  const caller = token === undefined ? undefined : await useToken(host.database, token);
  if (caller === undefined)
    return createFailure(
      401,
      'unauthenticated',
      'Send a token in the header "Authorization: Bearer". Create one with: daypass operator-token create',
    );
  const limit = host.section(operatorApiSection).requests_per_minute;
  const waitSeconds = await takeRequest(host.shared, `operator-api:${caller.id}`, { limit, period: 60, burst: limit });
  if (waitSeconds !== undefined)
    return createFailure(429, 'rate_limited', `Too many requests. Try again in ${Math.ceil(waitSeconds)} s.`);
  // PostgreSQL text cannot contain NUL characters.
  if (request.url.href.includes('%00')) return createFailure(400, 'invalid', 'The URL has a NUL character; remove it.');
  const call: Call = {
    method: request.method.toUpperCase(),
    segments: String(request.params['path'] ?? '').split('/'),
    query: request.url.searchParams,
    body: Buffer.isBuffer(request.payload) ? request.payload.toString() : '',
    key: key?.toString(),
  };
  try {
    return call.method === 'POST' ? await performAction(host, caller, call) : await serveReading(host, readings, call);
  } catch (error) {
    if (error instanceof InvalidQuery) return createFailure(400, 'invalid', error.message);
    if (!isActionError(error)) throw error;
    return describeActionError(error);
  }
}

async function serveReading(host: Host, readings: Readings, { segments, query }: Call): Promise<ApiResponse> {
  if (segments.join('/') === 'openapi.json')
    return { status: 200, body: createOpenApiDocument(host, readings.values()) };
  const [list = '', handle] = segments;
  const path = handle === undefined ? `/${list}` : `/${list}/{handle}`;
  const reading = segments.length > 2 ? undefined : readings.get(path);
  if (reading === undefined) return unknownPath;
  return { status: 200, body: toOperatorJson(await reading.read(host, handle ?? '', query)) as object };
}

const unknownPath = createFailure(404, 'not_found', `Unknown path. GET ${rootPath}/openapi.json lists all paths.`);

async function performAction(host: Host, caller: Caller, call: Call): Promise<ApiResponse> {
  // The segments are joined again, because a route's id contains a slash.
  const handle = call.segments.slice(1, -1).join('/');
  const path = `/${[call.segments[0], ...(handle === '' ? [] : ['{handle}']), call.segments.at(-1)].join('/')}`;
  const kind = [...getActions(host).values()].find((action) => buildActionPath(action) === path);
  if (kind === undefined) return unknownPath;
  if (caller.scope !== 'act')
    return createFailure(403, 'forbidden', 'The token is read-only. Create one with --scope act.');
  const parsedBody = call.body === '' ? {} : parseObject(call.body);
  if (parsedBody === undefined) return createFailure(400, 'invalid', 'The body must be a JSON object.');
  const input = renameMembers(kind.input, parsedBody);
  // Checked before the key is claimed, so that an invalid call does not use it up.
  const inputMistake = describeMistakes(kind.input, input);
  if (inputMistake !== undefined) return createFailure(400, 'invalid', inputMistake);
  const perform = () => runActionKind(host, caller, kind, handle, input);
  return call.key === undefined ? perform() : performOnce(host, caller, call, call.key, kind, perform);
}

async function performOnce(
  host: Host,
  caller: Caller,
  call: Call,
  key: string,
  { secrets = [] }: ActionKind,
  perform: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  if (!/^[!-~]{1,255}$/.test(key))
    return createFailure(400, 'invalid', 'Idempotency-Key must have 1 to 255 ASCII characters.');
  const earlierCall = await claimKey(host.database, caller.id, key, [...call.segments, call.body]);
  if (earlierCall === 'other call')
    return createFailure(422, 'key_reused', 'This Idempotency-Key was used for a different call.');
  if (earlierCall === 'not finished')
    return createFailure(
      409,
      'not_finished',
      "The call with this Idempotency-Key has not finished. Check its subject's recorded actions.",
    );
  if (earlierCall !== undefined) return earlierCall;
  const apiResponse = await perform().catch(async (error: unknown) => {
    const failureResponse = isActionError(error) ? describeActionError(error) : createFailure(500, 'internal', '');
    await storeResponse(host, caller, key, failureResponse);
    throw error;
  });
  const secretNames = new Set(secrets.map(toSnakeCase));
  const publicMembers = Object.entries(apiResponse.body).filter(([name]) => !secretNames.has(name));
  await storeResponse(host, caller, key, { ...apiResponse, body: Object.fromEntries(publicMembers) });
  return apiResponse;
}

async function storeResponse(host: Host, { id }: Caller, key: string, apiResponse: ApiResponse): Promise<void> {
  // If this fails, repeated calls get "not finished", but the action is still not repeated.
  await finishKey(host.database, id, key, apiResponse).catch((error: unknown) => {
    host.log.error('could not store the response of a call with an Idempotency-Key', error);
  });
}

/** These subjects have no handle. For existing scripts, their responses keep a redundant field from 0.5, such as `"books":"books"`. */
const namedSubjects: ReadonlySet<string> = new Set(['announcements', 'books', 'configuration', 'outage']);

async function runActionKind(
  host: Host,
  { id, name }: Caller,
  kind: ActionKind,
  handle: string,
  input: JsonObject,
): Promise<ApiResponse> {
  const { subject, result } = await runAction(host, { id, name: `api (${name})` }, kind, handle, input);
  const namesSubject = kind.subject.find !== undefined || namedSubjects.has(kind.subject.name);
  const subjectMember = namesSubject && { [subject.name ?? kind.subject.name]: subject.id };
  return { status: 200, body: { action: kind.name, ...subjectMember, ...(toOperatorJson(result) as object) } };
}

const statusByErrorKind: Readonly<Record<string, number>> = { not_found: 404, invalid: 400 };

function describeActionError({ kind, message }: ActionError): ApiResponse {
  return createFailure(statusByErrorKind[kind] ?? 409, kind, message);
}

function createFailure(status: number, code: string, message: string): ApiResponse {
  return { status, body: { error: { code, message } } };
}
