import { createAccount } from '#core/business/accounts/accounts.ts';
import type { mailSection } from '#core/business/mail/section.ts';
import { keepProviders } from '#core/business/payments/connections.ts';
import type { Order } from '#core/business/payments/order.ts';
import type { PaymentProvider } from '#core/business/payments/payment-provider.ts';
import type { paymentsSection } from '#core/business/payments/section.ts';
import type { Section, SectionValue } from '#core/config/section.ts';
import { Keeper } from '#core/extension/keeper.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { silentLog } from '../../../support/database.ts';

/** Values of sections that a test sets; others have their defaults. */
export interface PaymentSettings {
  readonly plans?: readonly { days: number; price: number; label?: string; limits?: object; max_active?: number }[];
  readonly sales?: { readonly max_active?: number; readonly reserve_minutes?: number };
  readonly mail?: Partial<SectionValue<typeof mailSection>>;
  readonly currency?: string;
  /** The section `seller` of the plugin receipts. */
  readonly seller?: object;
  readonly payments?: Partial<SectionValue<typeof paymentsSection>>;
}

export interface PaymentHost extends Host {
  readonly enqueued: { readonly name: string; readonly data: JsonObject; readonly delay: number | undefined }[];
}

const plans = [
  { days: 1, price: 18_000 },
  { days: 7, price: 95_000, label: 'week', limits: { limit: 5 } },
  { days: 30, price: 289_000 },
  { days: 200, price: 999_000 },
];

const defaults = {
  order_minutes: 30,
  decision_hours: 24,
  max_open_orders: 5,
  max_charges_per_hour: 1_000, // more than tests make, unless they are about this limit
  max_charges_per_hour_and_address: 1_000,
};

/** The parts of a host that payments use, with these providers; the first one takes new orders. */
export function createPaymentHost(
  database: Database,
  providers: readonly PaymentProvider[],
  settings: PaymentSettings = {},
): PaymentHost {
  const keeper = new Keeper();
  const values: Record<string, unknown> = {
    plans,
    currency: 'IDR',
    operators: [],
    mail: {},
    service: { time_zone: 'UTC' },
    ...settings,
    seller: { keep_years: 10, ...settings.seller },
    sales: { reserve_minutes: 1_440, ...settings.sales },
    payments: { ...defaults, provider: providers[0]?.name, ...settings.payments },
  };
  const enqueued: PaymentHost['enqueued'] = [];
  const host: Partial<PaymentHost> = {
    instance: 'test',
    service: { name: 'Daypass', prefix: 'dp', slug: 'daypass', baseUrl: 'https://gateway.example', contact: undefined },
    database,
    shared: new MemoryShared(),
    log: silentLog,
    isProduction: false,
    now: () => Date.now(),
    monotonic: () => performance.now(),
    catalog: {} as Host['catalog'],
    keep: (key, create) => keeper.keep(key, create),
    section: <S extends Section>({ name }: S) => values[name] as SectionValue<S>,
    enqueued,
    jobs: {
      backend: 'postgres',
      add(name, data, { delay } = {}) {
        enqueued.push({ name, data, delay });
        return Promise.resolve();
      },
      state: () => Promise.resolve({ waiting: 0, running: 0, oldestWaitMs: 0, failed: [] }),
      schedules: { lateSince: new Map(), rescheduleCount: 0 },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
  };
  keepProviders(host as Host, new Map(providers.map((provider) => [provider.name, provider])));
  return host as PaymentHost;
}

export async function createBuyer(database: Database): Promise<string> {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  return accountId;
}

/** The reference of the order's last attempt. */
export function referenceOf({ attempt, code }: Order): string {
  if (attempt === undefined) throw new Error(`order ${code} has no attempt`);
  return attempt.reference;
}

/** Seconds of paid time that an account holds or has used, and how many periods they are in. */
export async function timeHeld(database: Database, accountId: string): Promise<{ seconds: number; periods: number }> {
  const [row] = await database.query<{ seconds: number; periods: number }>(
    `select coalesce(sum(extract(epoch from ends_at - starts_at)), 0)::float8 as seconds, count(*)::int as periods
     from plan_period p where account_id = ? and ends_at > starts_at
       and not exists (select 1 from plan_period r where r.replaces = p.id)`,
    [accountId],
  );
  return { seconds: row?.seconds ?? 0, periods: row?.periods ?? 0 };
}
