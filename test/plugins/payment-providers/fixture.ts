import { askProvider } from '#core/business/payments/ask-provider.ts';
import { keepProviders } from '#core/business/payments/connections.ts';
import type {
  Charge,
  ChargeReference,
  ChargeRequest,
  PaymentConnection,
  PaymentNotification,
  PaymentProvider,
} from '#core/business/payments/payment-provider.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { Registry } from '#core/extension/registry.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { FakeNotification, FakeProvider } from '../../support/fake-provider.ts';

/** A provider that is connected to its fake. */
export interface Connected<Fake extends FakeProvider = FakeProvider> extends AsyncDisposable {
  readonly fake: Fake;
  readonly connection: PaymentConnection;
  /** Creates a charge. */
  charge(change?: Partial<ChargeRequest>): Promise<ChargeReference>;
  /** The same as core does it: with its turn under the rate limit. */
  chargeInTurn(): Promise<Charge>;
  /** Reads a notification as the route would. */
  read(notification: FakeNotification): PaymentNotification | undefined;
}

export const signal: AbortSignal = new AbortController().signal;

/** What a plugin registers as payment provider. */
export async function providerOf(plugin: GatewayPlugin): Promise<PaymentProvider> {
  const registry = new Registry();
  await plugin.register({ gateway: registry } as never, {} as never);
  return [...registry.paymentProviders.values()][0] as PaymentProvider;
}

export function requestFor(change: Partial<ChargeRequest> = {}): ChargeRequest {
  return {
    reference: 'ORD-7F3K2M.1',
    amount: 25_000,
    currency: 'IDR',
    description: 'Daypass, 7 days',
    expiresAt: new Date(Date.now() + 1_800_000),
    notificationUrl: 'http://127.0.0.1:9/hooks/test',
    buyer: { name: 'Ani', email: 'ani@example.com' },
    ...change,
  };
}

export async function connect<Fake extends FakeProvider>(
  plugin: GatewayPlugin,
  fake: Fake,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Connected<Fake>> {
  const host = createTestHost({ now: Date.now(), sections: { [fake.name]: { ...fake.section, ...settings } } });
  const provider = await providerOf(plugin);
  keepProviders(host, new Map([[provider.name, provider]]));
  const connection = provider.connect(host);
  return {
    fake,
    connection,
    async charge(change = {}) {
      const request = requestFor(change);
      const { providerReference } = await connection.charge(request, signal);
      return { reference: request.reference, providerReference };
    },
    chargeInTurn: () =>
      askProvider(host, provider.name, ({ charge }, until) => charge(requestFor(), until), { urgency: 'charge' }),
    read: ({ headers, body }) =>
      connection.readNotification({ headers, body: Buffer.from(body), query: new URLSearchParams() }),
    async [Symbol.asyncDispose]() {
      await fake[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}
