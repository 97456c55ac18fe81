import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { type ActionError, getActions, isActionError, runAction } from '#core/business/operator-actions/actions.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { describeMistakes } from '#core/business/operator-actions/input-mistakes.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { refusedFor } from '#core/platform/shared/shared.ts';
import { snakeCase, toOperatorJson } from '#core/web/resources/operator-json.ts';
import { type ApiAnswer, claimKey, finishKey } from './idempotency.ts';
import { describeApi, pathOf, root } from './openapi.ts';
import { withOwnNames } from './other-names.ts';
import { operatorApiSection } from './section.ts';
import { type Scope, useToken } from './tokens.ts';

const maxBodyBytes = 16_384;

interface Caller {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
}

interface Call {
  readonly method: string;
  readonly segments: readonly string[]; // path segments below the root
  readonly query: URLSearchParams;
  readonly body: string;
  readonly key: string | undefined;
}

type Readings = ReadonlyMap<string, OperatorReading>;

/** Routes of the whole API, behind one token check. @param readings by path */
export function operatorApiRoutes(host: () => Host, readings: Readings): ServerRoute[] {
  const path = `${root}/{path*}`;
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
  const answer = await answerTo(host, readings, request).catch((error: unknown): ApiAnswer => {
    host.log.error(`the operator API failed, request ${request.info.id}`, error);
    return fail(500, 'internal', `Internal error. Quote the request id ${request.info.id}.`);
  });
  const response = h.response(JSON.stringify(answer.body)).code(answer.status).type('application/json');
  if (answer.status === 401) response.header('www-authenticate', 'Bearer');
  return response.header('cache-control', 'no-store');
}

async function answerTo(host: Host, readings: Readings, request: Request): Promise<ApiAnswer> {
  const token = /^Bearer +(\S+) *$/i.exec(headerOf(request, 'authorization') ?? '')?.[1];
  const caller = token === undefined ? undefined : await useToken(host.database, token);
  if (caller === undefined)
    return fail(
      401,
      'unauthenticated',
      'Send a token in the header "Authorization: Bearer". Create one with: daypass operator-token create',
    );
  const limit = host.section(operatorApiSection).requests_per_minute;
  const wait = await refusedFor(host.shared, `operator-api:${caller.id}`, { limit, period: 60, burst: limit });
  if (wait !== undefined) return fail(429, 'rate_limited', `Too many requests. Try again in ${Math.ceil(wait)} s.`);
  // PostgreSQL text cannot contain NUL characters.
  if (request.url.href.includes('%00')) return fail(400, 'invalid', 'The address has a NUL character; leave it out.');
  const call: Call = {
    method: request.method.toUpperCase(),
    segments: String(request.params['path'] ?? '').split('/'),
    query: request.url.searchParams,
    body: Buffer.isBuffer(request.payload) ? request.payload.toString() : '',
    key: headerOf(request, 'idempotency-key'),
  };
  try {
    return call.method === 'POST' ? await act(host, caller, call) : await read(host, readings, call);
  } catch (error) {
    if (error instanceof InvalidQuery) return fail(400, 'invalid', error.message);
    if (!isActionError(error)) throw error;
    return refuse(error);
  }
}

function headerOf({ raw }: Request, name: string): string | undefined {
  const value = raw.req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

async function read(host: Host, readings: Readings, { segments, query }: Call): Promise<ApiAnswer> {
  if (segments.join('/') === 'openapi.json') return { status: 200, body: describeApi(host, readings.values()) };
  const [list = '', handle] = segments;
  const path = handle === undefined ? `/${list}` : `/${list}/{handle}`;
  const reading = segments.length > 2 ? undefined : readings.get(path);
  if (reading === undefined) return unknownPath;
  return { status: 200, body: toOperatorJson(await reading.read(host, handle ?? '', query)) as object };
}

const unknownPath = fail(404, 'not_found', `Unknown path. GET ${root}/openapi.json lists what there is.`);

async function act(host: Host, caller: Caller, call: Call): Promise<ApiAnswer> {
  // Joined again, because the id of a route contains a slash.
  const handle = call.segments.slice(1, -1).join('/');
  const path = `/${[call.segments[0], ...(handle === '' ? [] : ['{handle}']), call.segments.at(-1)].join('/')}`;
  const kind = [...getActions(host).values()].find((one) => pathOf(one) === path);
  if (kind === undefined) return unknownPath;
  if (caller.scope !== 'act') return fail(403, 'forbidden', 'The token may only read. Create one with --scope act.');
  const given = call.body === '' ? {} : parseObject(call.body);
  if (given === undefined) return fail(400, 'invalid', 'The body must be a JSON object.');
  const input = withOwnNames(kind.input, given);
  // Checked before the key is claimed, so that an invalid call does not use it up.
  const mistake = describeMistakes(kind.input, input);
  if (mistake !== undefined) return fail(400, 'invalid', mistake);
  const { key } = call;
  if (key === undefined) return perform(host, caller, kind, handle, input);
  if (!/^[!-~]{1,255}$/.test(key)) return fail(400, 'invalid', 'Idempotency-Key must have 1 to 255 ASCII characters.');
  const earlier = await claimKey(host.database, caller.id, key, [...call.segments, call.body]);
  if (earlier === 'other call') return fail(422, 'key_reused', 'This Idempotency-Key belongs to another call.');
  if (earlier === 'not finished')
    return fail(
      409,
      'not_finished',
      'The call with this Idempotency-Key has not finished. Read the actions of its subject.',
    );
  if (earlier !== undefined) return earlier;
  const answer = await perform(host, caller, kind, handle, input).catch(async (error: unknown) => {
    const failed = isActionError(error) ? refuse(error) : fail(500, 'internal', '');
    await keepAnswer(host, caller, key, failed);
    throw error;
  });
  const secrets = kind.secrets?.map(snakeCase) ?? [];
  const kept = Object.entries(answer.body).filter(([name]) => !secrets.includes(name));
  await keepAnswer(host, caller, key, { ...answer, body: Object.fromEntries(kept) });
  return answer;
}

/** If this fails, repeated calls get "not finished": the action is not repeated, and the caller learns the reason. */
async function keepAnswer(host: Host, { id }: Caller, key: string, answer: ApiAnswer): Promise<void> {
  await finishKey(host.database, id, key, answer).catch((error: unknown) => {
    host.log.error('the answer of a call with an Idempotency-Key could not be kept', error);
  });
}

/** Kinds without a handle whose responses keep the redundant member of 0.5, such as `"books":"books"`, for existing scripts. */
const formerlyNamed: ReadonlySet<string> = new Set(['announcements', 'books', 'configuration', 'outage']);

async function perform(
  host: Host,
  { id, name }: Caller,
  kind: ActionKind,
  handle: string,
  input: JsonObject,
): Promise<ApiAnswer> {
  const { subject, result } = await runAction(host, { id, name: `api (${name})` }, kind, handle, input);
  const isNamed = kind.subject.find !== undefined || formerlyNamed.has(kind.subject.name);
  const named = isNamed && { [subject.name ?? kind.subject.name]: subject.id };
  return { status: 200, body: { action: kind.name, ...named, ...(toOperatorJson(result) as object) } };
}

const statuses: Readonly<Record<string, number>> = { not_found: 404, invalid: 400 };

/** The action failed: 409, unless the error's kind has a more specific status. */
function refuse({ kind, message }: ActionError): ApiAnswer {
  return fail(statuses[kind] ?? 409, kind, message);
}

function fail(status: number, code: string, message: string): ApiAnswer {
  return { status, body: { error: { code, message } } };
}
