import { columns, type RequestRecord } from '#core/gateway/records/columns.ts';

/** 21:32:07 in Jakarta. */
export const startedAt = Date.UTC(2026, 10, 22, 14, 32, 7);

const nothing = Object.fromEntries(Object.keys(columns).map((name) => [name, null]));

/** A call of a model that was answered, with these differences. */
export function recordOf(settings: Partial<RequestRecord> = {}): RequestRecord {
  const record = {
    ...nothing,
    id: 'req_019aa0f04d5870008000000000000001',
    started_at: startedAt,
    method: 'POST',
    path: '/v1/responses',
    endpoint: 'responses',
    format: 'responses',
    is_stream: true,
    model: 'dp/gpt-6-sol',
    outcome: 'answered',
    status: 200,
    duration_ms: 4280,
    ...settings,
  };
  return record as unknown as RequestRecord;
}
