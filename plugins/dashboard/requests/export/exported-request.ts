import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import type { RouteNames } from '../../route-names.ts';
import { readAttempts } from '../completed-attempt.ts';
import { firstTokenOf } from '../describe-row.ts';

type Value = string | number | boolean | null;
type Field = (record: RequestRecord, routes: RouteNames) => Value;

const fields: Readonly<Record<string, Field>> = {
  // The names depend neither on the file format nor on the language. Times are in ms.
  id: ({ id }) => id,
  time: ({ started_at: startedAt }) => new Date(startedAt).toISOString(),
  model: ({ model }) => model,
  alias_of: (record) => record.alias_of,
  route: ({ route, model }, routes) => (route === null ? null : routes.label(route, model)),
  outcome: ({ outcome }) => outcome,
  status: ({ status }) => status,
  error: (record) => record.error_code,
  error_message: (record) => record.error_message,
  format: ({ format }) => format,
  streamed: (record) => record.is_stream,
  cached: ({ cache }) => cache === 'hit',
  first_token_ms: (record) => firstTokenOf(record) ?? null,
  total_ms: (record) => record.duration_ms,
  input_tokens: (record) => record.input_tokens,
  output_tokens: (record) => record.output_tokens,
  cache_read_tokens: (record) => record.cache_read_tokens,
  cache_write_tokens: (record) => record.cache_write_tokens,
  reasoning_tokens: (record) => record.reasoning_tokens,
  tokens_estimated: (record) => record.usage_estimated,
  bytes_in: (record) => record.bytes_in,
  bytes_out: (record) => record.bytes_out,
  method: ({ method }) => method,
  path: ({ path }) => path,
  client: (record) => record.user_agent,
  address: (record) => record.remote_address,
  key: (record) => record.key_hint,
};

function listFields({ areShown }: RouteNames): [name: string, read: Field][] {
  return Object.entries(fields).filter(([name]) => areShown || name !== 'route');
}

export function renderCsvHeading(routes: RouteNames): string {
  return `${formatCsvLine([...listFields(routes).map(([name]) => name), 'attempts', 'notes'])}\r\n`;
}

export function renderCsvLine(record: RequestRecord, routes: RouteNames): string {
  const cells = listFields(routes).map(([, read]) => formatCell(read(record, routes)));
  return `${formatCsvLine([...cells, record.attempts?.length ?? 0, (record.notes ?? []).join('; ')])}\r\n`;
}

function formatCell(value: Value): string | number | undefined {
  if (value === null) return undefined;
  return typeof value === 'boolean' ? String(value) : value;
}

/** Times of attempts are ms since the request arrived. */
export function renderJsonLine(record: RequestRecord, routes: RouteNames): string {
  const members = Object.fromEntries(listFields(routes).map(([name, read]) => [name, read(record, routes)]));
  const attempts = readAttempts(record).map(({ route, outcome, status, fault, start, end }) => ({
    ...(routes.areShown && { route: routes.label(route, record.model) }),
    outcome,
    status: status ?? null,
    fault: fault ?? null,
    started_ms: start,
    ended_ms: end,
  }));
  return `${JSON.stringify({ ...members, attempts, notes: record.notes ?? [] })}\n`;
}
