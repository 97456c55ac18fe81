import type { Host, Services } from '#core/gateway/host/host.ts';
import type { Order } from './order-types.ts';
import type { PaymentConnection, PaymentProvider } from './payment-provider.ts';
import { defaultProvider, noProvider, paymentsSection } from './section.ts';

type Providers = ReadonlyMap<string, PaymentProvider>;

const serviceKey = 'payment-providers';
/** One map per loaded configuration, because connections depend on its settings. */
const connections = new WeakMap<Host, Map<string, PaymentConnection>>();

/** Makes the registered providers known to everything that gets a host. */
export function keepProviders(services: Pick<Services, 'keep'>, providers: Providers): void {
  services.keep(serviceKey, () => providers);
}

/** Returns all registered providers by name. */
export function paymentProviders(host: Pick<Host, 'keep'>): Providers {
  return host.keep<Providers>(serviceKey, () => new Map());
}

/** Returns the name of the provider of new orders; undefined if nothing is sold. */
export function providerName({ section, isProduction }: Pick<Host, 'section' | 'isProduction'>): string | undefined {
  const name = section(paymentsSection).provider ?? (isProduction ? noProvider : defaultProvider);
  return name === noProvider ? undefined : name;
}

/** Returns the provider of new orders; undefined if this gateway sells nothing. */
export function configuredProvider(host: Host): PaymentProvider | undefined {
  const name = providerName(host);
  return name === undefined ? undefined : paymentProviders(host).get(name);
}

/**
 * Simulates the payment of an order's charge, if its provider is in test mode.
 *
 * @returns a shell command; undefined if money moves, or if the provider is no longer configured
 */
export function simulationOf(
  host: Host,
  { provider, attempt }: Pick<Order, 'provider' | 'attempt'>,
): string | undefined {
  if (attempt === undefined || !paymentProviders(host).has(provider)) return undefined;
  try {
    return paymentConnection(host, provider).simulation?.(attempt);
  } catch {
    return undefined; // its secret is gone, so its mode is unknown
  }
}

/**
 * Returns the connection to a provider, with the settings of this configuration: the provider of new orders, or another one with open
 * orders.
 *
 * @throws Error if no such provider is registered, if it is a sandbox in production, or if its secret is missing
 */
export function paymentConnection(host: Host, name: string): PaymentConnection {
  const byName = connections.get(host) ?? new Map<string, PaymentConnection>();
  connections.set(host, byName);
  const existing = byName.get(name);
  if (existing !== undefined) return existing;
  const provider = paymentProviders(host).get(name);
  if (provider === undefined) throw new Error(`Payment provider "${name}" not found`);
  if (provider.isSandbox === true && host.isProduction)
    throw new Error(`Payment provider "${name}" moves no money; it is off in production`);
  const connection = provider.connect(host);
  byName.set(name, connection);
  return connection;
}
