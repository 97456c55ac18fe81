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
import { type Columns, defineColumns, type RecordRow } from './column.ts';

const maxRouteLength = 300; // characters of `upstream/model`

const requestColumns = defineColumns<Exchange>()({
  id: { type: 'text', isPersonal: false, isRequired: true, read: ({ id }) => id },
  started_at: { type: 'timestamptz', isRequired: true, read: ({ receivedAt }) => receivedAt },
  method: { type: 'text', isPersonal: false, isRequired: true, read: ({ method }) => method },
  path: { type: 'text', isPersonal: false, isRequired: true, read: redactPath, maxLength: 512 },
  endpoint: { type: 'text', isPersonal: false, isRequired: true, read: ({ endpoint }) => endpoint.name },
  is_metered: { type: 'boolean', read: ({ endpoint }) => endpoint.isMetered },
  format: { type: 'text', isPersonal: false, read: ({ format }) => format?.name, maxLength: 200 },
  bytes_in: { type: 'bigint', read: ({ headers }) => toNumber(headers['content-length']) },
  remote_address: { type: 'text', isPersonal: true, read: ({ remoteAddress }) => remoteAddress, maxLength: 64 },
  canary: { type: 'integer', isConfidential: true, read: ({ variant }) => variant },
  user_agent: { type: 'text', isPersonal: true, read: ({ headers }) => headers['user-agent'], maxLength: 256 },
});

const principalColumns = defineColumns<Principal>()({
  account_id: { type: 'uuid', isConfidential: true, read: ({ accountId }) => accountId },
  key_hint: { type: 'text', isPersonal: false, read: ({ keyHint }) => keyHint, maxLength: 200 },
});
const callColumns = defineColumns<CachedCall>()({
  model: { type: 'text', isPersonal: false, read: ({ modelName }) => modelName, maxLength: 200 },
  alias_of: { type: 'text', isPersonal: false, read: findAliasedModel, maxLength: 200 }, // the public name, if the client used another
  is_stream: { type: 'boolean', read: ({ isStream }) => isStream },
});

const outcomeColumns = defineColumns<Outcome>()({
  // Requests in flight when the gateway was killed are stored as `interrupted`.
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
const cacheColumns = defineColumns<'hit' | 'miss'>()({
  cache: { type: 'text', isPersonal: false, read: (status) => status },
});

const attemptColumns = defineColumns<AttemptRecord>()({
  route: { type: 'text', isPersonal: false, isRequired: true, read: ({ route }) => route, maxLength: maxRouteLength },
  outcome: { type: 'text', isPersonal: false, isRequired: true, read: ({ outcome }) => outcome },
  format: { type: 'text', isPersonal: false, read: ({ format }) => format, maxLength: 200 },
  started_ms: { type: 'bigint', read: ({ startedAt }) => startedAt }, // since the request's arrival
  duration_ms: { type: 'bigint', read: ({ duration }) => duration },
  status: { type: 'smallint', read: ({ status }) => status },
  fault: { type: 'text', isPersonal: false, read: ({ fault }) => fault },
  error: { type: 'text', isPersonal: false, read: ({ error }) => error && redactKeys(error), maxLength: 200 },
});
const deliveryColumns = defineColumns<Delivery>()({
  route: {
    type: 'text',
    isPersonal: false,
    isConfidential: true,
    read: ({ servedBy }) => servedBy,
    maxLength: maxRouteLength,
  },
  has_failover: { type: 'boolean', read: hasFailover },
  first_content_ms: { type: 'bigint', read: ({ firstContentAfter }) => firstContentAfter },
  queue_ms: { type: 'bigint', read: ({ queuedFor }) => queuedFor },
  attempts: {
    type: 'jsonb',
    isPersonal: false,
    isConfidential: true,
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
  answered_model: {
    type: 'text',
    isPersonal: false,
    isConfidential: true,
    read: ({ answeredModel }) => answeredModel,
    maxLength: 200,
  },
  /** True if `answered_model` differs from the model requested by the route (plugins/upstream/routing/same-model.ts). */
  is_other_model: { type: 'boolean', isConfidential: true, read: ({ isOtherModel }) => isOtherModel },
  is_policy_refusal: { type: 'boolean', read: ({ isPolicyRefusal }) => isPolicyRefusal },
  usage_estimated: { type: 'boolean', read: ({ usage }) => usage && usage.isEstimated === true },
});

const digestColumns = defineColumns<AnswerDigests>()({
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

/** The columns of `request_log`, except `instance`. */
export const columns = {
  ...requestColumns,
  ...principalColumns,
  ...callColumns,
  ...outcomeColumns,
  ...cacheColumns,
  ...deliveryColumns,
  ...digestColumns,
} as const;

/** A request as recorded in the database. */
export type RequestRecord = RecordRow<typeof columns>;

/** When the values of a source are known: on arrival, before the request goes upstream, or at its end. */
export type Moment = 'request' | 'caller' | 'result';

/** A group of columns with the object that they are read from. If the object is missing, the columns are null. */
export interface RecordSource {
  readonly moment: Moment;
  find(exchange: Exchange, outcome?: Outcome): unknown; // `outcome` is defined at the moment `result`
  readonly columns: Columns<never>;
}

export const sources: readonly RecordSource[] = [
  { moment: 'request', find: (exchange) => exchange, columns: requestColumns },
  { moment: 'caller', find: (exchange) => exchange.find(principal), columns: principalColumns },
  { moment: 'caller', find: (exchange) => exchange.find(adapter) ?? exchange.find(cachedCall), columns: callColumns },
  { moment: 'result', find: (_, outcome) => outcome, columns: outcomeColumns },
  { moment: 'result', find: (exchange) => exchange.find(cacheStatus), columns: cacheColumns },
  { moment: 'result', find: (exchange) => exchange.find(delivery), columns: deliveryColumns },
  { moment: 'result', find: findDigests, columns: digestColumns },
];

function findDigests(exchange: Exchange): AnswerDigests | undefined {
  const digests = exchange.find(answerDigests);
  const contentReader = exchange.find(changedContent);
  if (contentReader === undefined) return digests;
  const { received, changes = [] } = digests ?? {};
  // The digest of changed content is known only after sending.
  return { received, sent: contentReader.digest(), changes: [...changes, 'stage'] };
}

function findAliasedModel({ model, modelName }: CachedCall): string | undefined {
  return modelName === model.publicName ? undefined : model.publicName;
}

function redactPath({ path, endpoint }: Exchange): string {
  // An unknown path can contain anything, such as a key pasted into the base URL.
  return endpoint.name === 'unknown' ? redactKeys(path) : path;
}

function toNumber(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}

function hasFailover({ attempts }: Delivery): boolean {
  return attempts.length > 1 && attempts.some(({ route }) => route !== attempts[0]?.route);
}

const credentialPattern = /\b(?:(?:sk|pk|rk|xai)-[\w-]{12,}|AIza[\w-]{20,}|[a-z][a-z0-9]{0,15}[-_][A-Za-z0-9]{20,})/g;

/** Truncates all texts that look like an API key of a vendor or the gateway to six characters. */
export function redactKeys(text: string): string {
  return text.replace(credentialPattern, (key) => `${key.slice(0, 6)}…`);
}
