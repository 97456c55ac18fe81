import { bounds } from '#core/platform/bounds.ts';
import {
  adapter,
  answerDigests,
  type AttemptRecord,
  type CachedCall,
  cachedCall,
  cacheStatus,
  type Delivery,
  delivery,
  type Principal,
  principal,
} from '../facts.ts';
import type { AnswerDigests } from '../model-call/adapter.ts';
import { changedContent } from '../pipeline/changed-body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Outcome } from '../pipeline/stage.ts';
import { type Columns, columnsOf, type RecordRow } from './column.ts';

const routeLength = 300; // characters of `upstream/model`

const requestColumns = columnsOf<Exchange>()({
  id: { type: 'text', isPersonal: false, isRequired: true, read: ({ id }) => id },
  started_at: { type: 'timestamptz', isRequired: true, read: ({ receivedAt }) => receivedAt },
  method: { type: 'text', isPersonal: false, isRequired: true, read: ({ method }) => method },
  path: { type: 'text', isPersonal: false, isRequired: true, read: safePath, maxLength: 512 },
  endpoint: { type: 'text', isPersonal: false, isRequired: true, read: ({ endpoint }) => endpoint.name },
  is_metered: { type: 'boolean', read: ({ endpoint }) => endpoint.isMetered },
  format: { type: 'text', isPersonal: false, read: ({ format }) => format?.name, maxLength: 200 },
  bytes_in: { type: 'bigint', read: ({ headers }) => numberOf(headers['content-length']) },
  remote_address: { type: 'text', isPersonal: true, read: ({ remoteAddress }) => remoteAddress, maxLength: 64 },
  canary: { type: 'integer', read: ({ variant }) => variant },
  user_agent: { type: 'text', isPersonal: true, read: ({ headers }) => headers['user-agent'], maxLength: 256 },
});

const principalColumns = columnsOf<Principal>()({
  account_id: { type: 'uuid', read: ({ accountId }) => accountId },
  key_hint: { type: 'text', isPersonal: false, read: ({ keyHint }) => keyHint, maxLength: 200 },
});
const callColumns = columnsOf<CachedCall>()({
  model: { type: 'text', isPersonal: false, read: ({ modelName }) => modelName, maxLength: 200 },
  /** Public name of the model, if the client used another name. */
  alias_of: { type: 'text', isPersonal: false, read: aliasOf, maxLength: 200 },
  is_stream: { type: 'boolean', read: ({ isStream }) => isStream },
});

const outcomeColumns = columnsOf<Outcome>()({
  // Requests in flight when a gateway was killed have no outcome: they are stored as `interrupted`.
  outcome: {
    type: 'text',
    isPersonal: false,
    isRequired: true,
    read: ({ kind }): Outcome['kind'] | 'interrupted' => kind,
  },
  status: { type: 'smallint', read: ({ status }) => status },
  duration_ms: { type: 'bigint', read: ({ duration }) => duration },
  first_byte_ms: { type: 'bigint', read: ({ firstByteAfter }) => firstByteAfter },
  bytes_out: { type: 'bigint', read: ({ bytesSent }) => bytesSent },
  error_code: { type: 'text', isPersonal: false, read: ({ error }) => error?.code },
  error_message: {
    type: 'text',
    isPersonal: false,
    read: ({ error }) => error && redactKeys(error.message),
    maxLength: 500,
  },
});
const cacheColumns = columnsOf<'hit' | 'miss'>()({
  cache: { type: 'text', isPersonal: false, read: (status) => status },
});

/** An attempt on a route; times in ms, `started_ms` from the request's arrival. */
const attemptColumns = columnsOf<AttemptRecord>()({
  route: { type: 'text', isPersonal: false, isRequired: true, read: ({ route }) => route, maxLength: routeLength },
  outcome: { type: 'text', isPersonal: false, isRequired: true, read: ({ outcome }) => outcome },
  format: { type: 'text', isPersonal: false, read: ({ format }) => format, maxLength: 200 },
  started_ms: { type: 'bigint', read: ({ startedAt }) => startedAt },
  duration_ms: { type: 'bigint', read: ({ duration }) => duration },
  status: { type: 'smallint', read: ({ status }) => status },
  fault: { type: 'text', isPersonal: false, read: ({ fault }) => fault },
  error: { type: 'text', isPersonal: false, read: ({ error }) => error && redactKeys(error), maxLength: 200 },
});
const deliveryColumns = columnsOf<Delivery>()({
  route: { type: 'text', isPersonal: false, read: ({ servedBy }) => servedBy, maxLength: routeLength },
  has_failover: { type: 'boolean', read: hasFailover },
  first_content_ms: { type: 'bigint', read: ({ firstContentAfter }) => firstContentAfter },
  queue_ms: { type: 'bigint', read: ({ queuedFor }) => queuedFor },
  attempts: {
    type: 'jsonb',
    isPersonal: false,
    read: ({ attempts }) => attempts,
    entries: -8,
    members: attemptColumns,
  },
  notes: {
    type: 'text[]',
    isPersonal: false,
    read: ({ notes }) => (notes?.length ? notes : undefined),
    entries: 25,
    maxLength: 120,
  },
  input_tokens: { type: 'integer', read: ({ usage }) => usage?.input, maximum: bounds.tokens },
  output_tokens: { type: 'integer', read: ({ usage }) => usage?.output, maximum: bounds.tokens },
  cache_read_tokens: { type: 'integer', read: ({ usage }) => usage?.cacheRead, maximum: bounds.tokens },
  cache_write_tokens: { type: 'integer', read: ({ usage }) => usage?.cacheWrite, maximum: bounds.tokens },
  reasoning_tokens: { type: 'integer', read: ({ usage }) => usage?.reasoning, maximum: bounds.tokens },
  images: { type: 'integer', read: ({ usage }) => usage?.images, maximum: bounds.tokens },
  /** Model named in the vendor's answer. */
  answered_model: { type: 'text', isPersonal: false, read: ({ answeredModel }) => answeredModel, maxLength: 200 },
  /** True if that differs from the model requested by the route (plugins/upstream/routing/same-model.ts). */
  is_other_model: { type: 'boolean', read: ({ isOtherModel }) => isOtherModel },
  is_policy_refusal: { type: 'boolean', read: ({ isPolicyRefusal }) => isPolicyRefusal },
  usage_estimated: { type: 'boolean', read: ({ usage }) => usage && usage.isEstimated === true },
});

/** SHA-256 of the answer's content as sent by the upstream and to the client, and why they differ. */
const digestColumns = columnsOf<AnswerDigests>()({
  digest_received: { type: 'text', isPersonal: false, read: ({ received }) => received },
  digest_sent: { type: 'text', isPersonal: false, read: ({ sent }) => sent },
  digest_changes: {
    type: 'text[]',
    isPersonal: false,
    read: ({ received, sent, changes }) => (received === sent ? undefined : (changes ?? [])),
    entries: 8,
    maxLength: 40,
  },
});

/** The columns of `request_log` except `instance`: the record of a request. */
export const columns = {
  ...requestColumns,
  ...principalColumns,
  ...callColumns,
  ...outcomeColumns,
  ...cacheColumns,
  ...deliveryColumns,
  ...digestColumns,
} as const;

export type RequestRecord = RecordRow<typeof columns>;

/** When the values of a source are known: on arrival, before the request goes upstream, or at its end. */
export type Moment = 'request' | 'caller' | 'result';

/** The object that a group of columns is read from. If it is missing, all of them are null. */
export interface RecordSource {
  readonly moment: Moment;
  /** @param outcome defined at the moment `result` */
  find(exchange: Exchange, outcome?: Outcome): unknown;
  readonly columns: Columns<never>;
}

export const sources: readonly RecordSource[] = [
  { moment: 'request', find: (exchange) => exchange, columns: requestColumns },
  { moment: 'caller', find: (exchange) => exchange.find(principal), columns: principalColumns },
  { moment: 'caller', find: (exchange) => exchange.find(adapter) ?? exchange.find(cachedCall), columns: callColumns },
  { moment: 'result', find: (_, outcome) => outcome, columns: outcomeColumns },
  { moment: 'result', find: (exchange) => exchange.find(cacheStatus), columns: cacheColumns },
  { moment: 'result', find: (exchange) => exchange.find(delivery), columns: deliveryColumns },
  { moment: 'result', find: digestsOf, columns: digestColumns },
];

/** Content changed by a stage is known once it was sent. */
function digestsOf(exchange: Exchange): AnswerDigests | undefined {
  const digests = exchange.find(answerDigests);
  const changed = exchange.find(changedContent);
  if (changed === undefined) return digests;
  const { received, changes = [] } = digests ?? {};
  return { received, sent: changed.digest(), changes: [...changes, 'stage'] };
}

function aliasOf({ model, modelName }: CachedCall): string | undefined {
  return modelName === model.publicName ? undefined : model.publicName;
}

/** Unknown paths can contain anything, such as a key pasted into the base URL. */
function safePath({ path, endpoint }: Exchange): string {
  return endpoint.name === 'unknown' ? redactKeys(path) : path;
}

function numberOf(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}

function hasFailover({ attempts }: Delivery): boolean {
  return attempts.length > 1 && attempts.some(({ route }) => route !== attempts[0]?.route);
}

const credential = /\b(?:(?:sk|pk|rk|xai)-[\w-]{12,}|AIza[\w-]{20,}|[a-z][a-z0-9]{0,15}[-_][A-Za-z0-9]{20,})/g;

/** Truncates everything that looks like an API key, of a vendor or the gateway, to six characters. */
export function redactKeys(text: string): string {
  return text.replace(credential, (key) => `${key.slice(0, 6)}…`);
}
