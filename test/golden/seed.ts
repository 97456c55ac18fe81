import { addUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import type { Database } from '#core/platform/database/database.ts';
import { RecordBook } from '../core/gateway/records/record-fixture.ts';

/** Friday, 20 November 2026, 10:00 in Jakarta: the time of the shop. */
export const now = Date.UTC(2026, 10, 20, 3);

/** A UUID that is recognised in what the product says. */
const uuid = (number: number) => `01980000-0000-7000-8000-${String(number).padStart(12, '0')}`;

export const rani = uuid(1);
export const sari = uuid(2);
export const budi = uuid(3);
export const orders = { paid: uuid(11), expired: uuid(12), pending: uuid(13), gift: uuid(14), refunded: uuid(15) };
export const flag = uuid(51);
export const outage = uuid(61);
export const announcement = uuid(71);

const hour = 3_600_000; // ms

/** The time of a request is in its id, by which its record is found. */
const requestId = (number: number) =>
  `req_${(now - number * hour).toString(16).padStart(12, '0')}7${String(number).padStart(19, '0')}`;

export const failedRequest = requestId(2);

/** The cookie of Rani's session. */
export const session = 's'.padEnd(44, '-');

/** Everything that an operator can look at, once. Rows have their own ids and times; nothing is read from a clock. */
export async function seedShop(database: Database): Promise<void> {
  for (const statement of statements) await database.query(statement);
  await seedRequests(database);
  await addUnauthenticated(database, [{ minute: now - 600_000, block: '203.0.113.0/24', status: 401, requests: 12 }]);
}

async function seedRequests(database: Database): Promise<void> {
  const book = new RecordBook(database);
  const requests = [
    { duration_ms: 2_400, first_content_ms: 640, input_tokens: 1_200, output_tokens: 340, route: 'openai/gpt-6-sol' },
    {
      duration_ms: 3_100,
      input_tokens: 800,
      outcome: 'failed' as const,
      status: 502,
      error_code: 'upstream_failed' as const,
      error_message: 'All routes failed.',
      has_failover: true,
      attempts: [
        { route: 'openai/gpt-6-sol', outcome: 'failed', started_ms: 0, duration_ms: 412, status: 503, fault: 'route' },
        {
          route: 'other/gpt-6-sol',
          outcome: 'failed',
          started_ms: 412,
          duration_ms: 2_688,
          status: 500,
          fault: 'route',
        },
      ] as never,
    },
    { duration_ms: 12, cache: 'hit' as const, input_tokens: 1_200, output_tokens: 340 },
  ];
  await book.write(
    ...requests.map((request, index) => ({
      id: requestId(index + 1),
      account_id: index === 2 ? sari : rani,
      started_at: now - (index + 1) * hour,
      model: 'dp/gpt-6-sol',
      format: 'chat',
      is_stream: true,
      user_agent: 'openai-python/1.54.0',
      ...request,
    })),
  );
}

const statements = [
  'create table request_log_golden partition of request_log default',
  `insert into secret (name, value) values ('unsubscribe', 'golden')`,
  `insert into account (id, email, name, created_at, language, blocked_at, blocked_reason) values
     ('${rani}', 'rani@example.com', 'Rani Putri', '2026-10-01 02:00Z', 'en', null, null),
     ('${sari}', 'sari@example.com', 'Sari', '2026-10-02 02:00Z', 'id', null, null),
     ('${budi}', 'budi@example.com', 'Budi', '2026-10-03 02:00Z', null, '2026-11-10 02:00Z', 'shared the key')`,
  `insert into api_key (id, account_id, sha256, hint, limits, created_at, shown_at) values
     ('${uuid(21)}', '${rani}', sha256('rani'), 'dp-…ani1', '{"limit":600,"period":60}', '2026-10-01 02:00Z', '2026-10-01 02:00Z'),
     ('${uuid(22)}', '${sari}', sha256('sari'), 'dp-…ari2', null, '2026-10-02 02:00Z', '2026-10-02 02:00Z')`,
  `insert into identity (provider, subject, account_id, email, name, created_at, last_used_at) values
     ('google', '1001', '${rani}', 'rani@example.com', 'Rani Putri', '2026-10-01 02:00Z', '2026-11-19 02:00Z'),
     ('github', '2002', '${rani}', null, 'raniputri', '2026-10-05 02:00Z', '2026-10-05 02:00Z')`,
  `insert into session (id, account_id, token_sha256, user_agent, created_at, last_used_at, expires_at) values
     ('${uuid(23)}', '${rani}', sha256('${session}'), 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', '2026-11-19 02:00Z',
      '2026-11-19 02:00Z', '2026-12-19 02:00Z')`,
  `insert into plan_order (id, code, account_id, days, price, currency, label, provider, is_gift, state, created_at, expires_at, paid_at)
   values
     ('${orders.paid}', 'ORD-2222PAYD', '${rani}', 7, 95000, 'IDR', 'for weekly work', 'sandbox', false, 'paid',
      '2026-11-16 02:00Z', '2026-11-16 02:30Z', '2026-11-16 02:05Z'),
     ('${orders.expired}', 'ORD-2222EXPD', '${rani}', 1, 18000, 'IDR', null, 'sandbox', false, 'expired',
      '2026-11-15 02:00Z', '2026-11-15 02:30Z', null),
     ('${orders.pending}', 'ORD-2222PEND', '${sari}', 30, 289000, 'IDR', null, 'sandbox', false, 'pending',
      '2026-11-20 02:50Z', '2026-11-20 03:20Z', null),
     ('${orders.gift}', 'ORD-2222G2FT', '${rani}', 3, 48000, 'IDR', null, 'sandbox', true, 'paid',
      '2026-11-17 02:00Z', '2026-11-17 02:30Z', '2026-11-17 02:04Z'),
     ('${orders.refunded}', 'ORD-2222BACK', '${sari}', 7, 95000, 'IDR', null, 'sandbox', false, 'refunded',
      '2026-11-12 02:00Z', '2026-11-12 02:30Z', '2026-11-12 02:03Z')`,
  `insert into payment_attempt (reference, order_id, number, provider, provider_reference, charge, amount, currency, expires_at,
     created_at, state)
   select code || '.1', id, 1, provider, 'sandbox-' || code, 'created', price, currency, expires_at, created_at,
     case when paid_at is null then 'pending' else 'paid' end from plan_order`,
  `insert into payment (id, order_id, reference, provider, provider_reference, payment_id, amount, currency, paid_at, issuer, outcome,
     raw, recorded_at, fee)
   select ('01980000-0000-7000-8000-0000000001' || right(id::text, 2))::uuid, id, code || '.1', provider, 'sandbox-' || code,
     'pay-' || code, price, currency, paid_at, 'gopay', 'activated', '{}', paid_at, 665 from plan_order where paid_at is not null`,
  `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, issuer, outcome, raw, recorded_at)
   values ('${uuid(199)}', '${orders.paid}', 'ORD-2222PAYD.1', 'sandbox', 'pay-again', 95000, 'IDR', '2026-11-16 02:09Z', 'ovo',
     'second', '{}', '2026-11-16 02:10Z')`,
  `insert into refund (key, order_id, payment_id, amount, currency, state, days, reason, created_at, finished_at, provider_refund_id)
   values ('ORD-2222BACK-R1', '${orders.refunded}', '${uuid(115)}', 95000, 'IDR', 'done', 'unused', 'asked by mail',
     '2026-11-13 02:00Z', '2026-11-13 02:01Z', 'refund-1')`,
  `insert into order_flag (id, order_id, kind, subject, detail, created_at) values
     ('${flag}', '${orders.paid}', 'second_payment', 'pay-again', '{}', '2026-11-16 02:10Z')`,
  `insert into plan_period (id, account_id, starts_at, ends_at, days, label, reason, note, created_at, order_id) values
     ('${uuid(31)}', '${rani}', '2026-11-16 02:05Z', '2026-11-23 02:05Z', 7, 'for weekly work', 'order', null, '2026-11-16 02:05Z',
      '${orders.paid}'),
     ('${uuid(32)}', '${sari}', '2026-11-18 02:00Z', '2026-11-21 02:00Z', 3, null, 'grant', 'late answer', '2026-11-18 02:00Z', null)`,
  `insert into voucher_batch (id, days, label, note, source, is_for_new, expires_at, created_at) values
     ('${uuid(41)}', 3, 'welcome', 'meetup', 'given', true, '2027-11-01 02:00Z', '2026-11-01 02:00Z')`,
  `insert into voucher (id, batch_id, order_id, expires_at, sha256, hint, account_id, redeemed_at, revoked_at) values
     ('${uuid(42)}', '${uuid(41)}', null, null, sha256('one'), 'A2B3', null, null, null),
     ('${uuid(43)}', '${uuid(41)}', null, null, sha256('two'), 'C4D5', '${budi}', '2026-11-02 02:00Z', null),
     ('${uuid(44)}', null, '${orders.gift}', '2027-11-17 02:04Z', sha256('gift'), 'E6F7', null, null, null)`,
  `insert into announcement (id, kind, audience, model, text_en, text_id, starts_at, ends_at, created_by, created_at) values
     ('${announcement}', 'maintenance', 'all', null, 'Maintenance at night.', 'Pemeliharaan malam ini.', '2026-11-20 15:00Z',
      '2026-11-20 16:00Z', 'admin@example.com', '2026-11-19 02:00Z')`,
  `insert into incident (id, model, kind, cause, started_at, opened_at, checked_at, ended_at, lowest_answered) values
     ('${uuid(62)}', 'dp/gpt-6-sol', 'down', 'failing', '2026-11-18 05:00Z', '2026-11-18 05:01Z', '2026-11-18 05:40Z',
      '2026-11-18 05:40Z', 0)`,
  `insert into outage (id, incident_id, model, from_at, until_at, is_confirmed, credited_at) values
     ('${outage}', '${uuid(62)}', 'dp/gpt-6-sol', '2026-11-18 05:00Z', '2026-11-18 05:40Z', true, '2026-11-18 06:00Z')`,
  `insert into outage_credit (outage_id, account_id, seconds, created_at) values ('${outage}', '${rani}', 2400, '2026-11-18 06:00Z')`,
  `insert into waiting_entry (id, account_id, days, joined_at, reserved_until) values
     ('${uuid(81)}', '${budi}', 30, '2026-11-19 02:00Z', null),
     ('${uuid(82)}', '${sari}', 30, '2026-11-18 02:00Z', '2026-11-20 20:00Z')`,
  `insert into sales_day (day, plan_days, max_active, held, late, waiting) values ('2026-11-19', 0, 200, 3, 0, 2)`,
  `insert into probes_result (id, route, upstream, check_name, started_at, state, reason, detail, tokens, first_content_ms,
     tokens_per_second, score) values
     ('${uuid(91)}', 'openai/gpt-6-sol', 'openai', 'streams', '2026-11-20 01:00Z', 'ok', null, null, 184, 640, 71.5, null),
     ('${uuid(92)}', 'openai/gpt-6-sol', 'openai', 'fingerprint', '2026-11-20 01:00Z', 'ok', null, null, 420, null, null, 97),
     ('${uuid(93)}', 'other/gpt-6-sol', 'other', 'tool', '2026-11-20 01:00Z', 'failed', 'no_call', 'It is warm.', 96, null, null, null)`,
  `insert into account_event (name, payload, dedupe_key, created_at) values
     ('order.paid', '{"accountId":"${rani}","orderId":"${orders.paid}"}', 'g1', '2026-11-20 02:00Z'),
     ('payment.refunded', '{"accountId":"${sari}","orderId":"${orders.refunded}","refund":"ORD-2222BACK-R1","amount":"95000","currency":"IDR"}', 'g2', '2026-11-20 02:01Z'),
     ('plan.ending', '{"accountId":"${sari}","endsAt":"2026-11-21T02:00:00.000Z"}', 'g3', '2026-11-20 02:02Z'),
     ('session.created', '{"accountId":"${rani}","sessionId":"${uuid(23)}"}', 'g4', '2026-11-20 02:03Z'),
     ('key.rotated', '{"accountId":"${rani}","keyId":"${uuid(21)}"}', 'g5', '2026-11-20 02:04Z'),
     ('announcement.published', '{"accountId":"${sari}","announcementId":"${announcement}"}', 'g6', '2026-11-20 02:05Z'),
     ('place.reserved', '{"accountId":"${sari}","entryId":"${uuid(82)}"}', 'g7', '2026-11-20 02:06Z'),
     ('outage.credited', '{"accountId":"${rani}","outageId":"${outage}"}', 'g8', '2026-11-20 02:07Z'),
     ('order.flagged', '{"accountId":"${rani}","orderId":"${orders.paid}","reason":"second_payment","flagId":"${flag}"}', 'g9', '2026-11-20 02:08Z'),
     ('payment.unknown', '{"provider":"sandbox","kind":"payment","amount":"95000","currency":"IDR"}', 'g10', '2026-11-20 02:09Z'),
     ('day.reported', '{"day":"2026-11-19"}', 'g11', '2026-11-20 02:10Z')`,
];
